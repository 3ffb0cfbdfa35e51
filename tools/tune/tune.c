/* gantry tune: measures the keys of the policy on a device and writes the section. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/stopwatch.h"
#include "../output.h"
#include "../tool.h"
#include "userfile.h"
#include "result.h"
#include "tuner.h"

#define MS UINT64_C(1000000)

/* ---- Measuring ------------------------------------------------------------------------------ */

static unsigned count_open(const struct tuner *tuner, unsigned from)
{
    unsigned count = 0;

    for (unsigned i = from; i < tuner->trial_count; i++)
        count += tuner->trials[i].measured ? 0 : 1;
    return count;
}

/* An equal share of what is left, but not more than makes a difference. */
static uint64_t share_of_time(const struct tuner *tuner, unsigned from)
{
    uint64_t now = stopwatch_read(), left = tuner->end > now ? tuner->end - now : 0;
    uint64_t share = left / count_open(tuner, from), tenth = tuner->options.seconds * 100 * MS;
    uint64_t most = tenth < 15000 * MS ? tenth : 15000 * MS;

    return share < most ? share : most;
}

static void run_trial(struct tuner *tuner, unsigned index)
{
    struct trial *trial = &tuner->trials[index];
    uint64_t share = share_of_time(tuner, index);
    char what[TRIAL_KEY_SIZE + 48], sentence[TRIAL_SENTENCE_SIZE];

    snprintf(what, sizeof what, "%s through %s", trial->key, tuner->views[trial->backend].backend);
    progress_begin(&tuner->progress, index, what, share);
    trial_run(tuner, trial, stopwatch_read() + share, tuner->limit);
    if (progress_stopped())
        return;
    trial_sentence(trial, sentence);
    progress_end(&tuner->progress, sentence);
    if (trial_decided(trial))
        state_save(tuner);
}

/* False: it was stopped, or memory ran out. */
static bool run_all(struct tuner *tuner)
{
    progress_open(&tuner->progress, tuner->trial_count);
    tuner->end = tuner->begin + tuner->options.seconds * 770 * MS;
    tuner->limit = tuner->begin + tuner->options.seconds * 900 * MS; /* closing takes time, too */
    for (unsigned i = 0; i < tuner->trial_count && !progress_stopped(); i++) {
        struct trial *trial = &tuner->trials[i];

        if (!trial->measured && stopwatch_read() < tuner->limit)
            run_trial(tuner, i);
        if (!view_adopt(tuner, trial))
            return false;
    }
    return !progress_stopped();
}

static int say_stopped(const struct tuner *tuner)
{
    unsigned open = count_open(tuner, 0), measured = tuner->trial_count - open;

    progress_clear(&tuner->progress);
    output_error("tune: stopped: %u of %u keys are measured (gantry tune --resume measures the "
                 "others)",
                 measured, tuner->trial_count);
    return TOOL_FAILED;
}

/* ---- Showing -------------------------------------------------------------------------------- */

/* The section alone, as it would be in an empty file. */
static char *section_text(const struct section *section)
{
    size_t size = 0;
    char *text = section_put(section, "", &size);

    if (!text)
        output_error("tune: out of memory for the section");
    return text;
}

static char *default_file(const struct tuner *tuner)
{
    char file[MODEL_SIZE], name[MODEL_SIZE + 8];

    section_file_name(tuner->model, file);
    snprintf(name, sizeof name, "gpu.d/%s", file);
    return userfile_path("XDG_CONFIG_HOME", ".config", name);
}

/* What the library would say about the text must not be worse than before. */
static bool still_readable(const char *path, const char *before, size_t before_size,
                           const char *after, size_t after_size)
{
    const struct gantry_config_check_params old = {.file = path,
                                                   .text = before,
                                                   .size = before_size};
    const struct gantry_config_check_params new = {.file = path, .text = after, .size = after_size};

    if (gantry_config_check(&old) != GANTRY_OK || gantry_config_check(&new) == GANTRY_OK)
        return true;
    output_error("tune: %s is left as it was: the section can't be put into it: %s", path,
                 gantry_last_error());
    return false;
}

static bool write_section(const struct section *section, const char *path)
{
    size_t before_size, size;
    char *before = userfile_read(path, &before_size), *after = NULL;
    bool written = false;

    if (before && memchr(before, '\0', before_size))
        output_error("tune: %s is left as it was: it holds zero bytes, so it is no INI file", path);
    else if (before) {
        size = before_size;
        after = section_put(section, before, &size);
        if (!after)
            output_error("tune: out of memory for %s", path);
        written = after && still_readable(path, before, before_size, after, size) &&
                  userfile_replace(path, after, size);
    }
    free(before);
    free(after);
    return written;
}

/* Says which of the lines have no effect, because a stronger source says otherwise or the file is
 * not read. */
static void warn_of_stronger(const struct tuner *tuner, const struct section *section,
                             const char *path)
{
    struct gantry_config_value value;
    struct gantry *g = NULL;

    if (gantry_open(NULL, &g) != GANTRY_OK) {
        output_failure("tune");
        return;
    }
    for (uint32_t i = 0; i < gantry_config_count(g, tuner->info.index); i++) {
        if (gantry_config_get(g, tuner->info.index, i, &value) != GANTRY_OK)
            continue;
        for (unsigned k = 0; k < section->count; k++) {
            const struct section_key *key = &section->keys[k];

            if (key->count && key->complete && strcmp(key->key, value.key) == 0 &&
                strcmp(key->lines[0].name, key->key) == 0 &&
                strcmp(key->lines[0].value, value.value) != 0)
                output_error("tune: %s = %s in %s has no effect: %s says %s (see gantry config)",
                             key->key, key->lines[0].value, path, value.origin, value.value);
        }
    }
    gantry_close(&g);
}

static int show(struct tuner *tuner)
{
    const char *given = tuner->options.write_file;
    char *path = tuner->options.write ? given ? strdup(given) : default_file(tuner) : NULL;
    struct section *section = calloc(1, sizeof *section);
    int status = tuner->problem ? TOOL_FAILED : TOOL_DONE;
    char *text = NULL;
    bool written = false;

    if (section) {
        result_section(tuner, path, section);
        text = section_text(section);
    }
    if (path && text)
        written = write_section(section, path);
    if (!text || (tuner->options.write && !written))
        status = TOOL_FAILED;
    else
        state_remove(tuner);
    if (text && tuner->options.json)
        status = report_print_json(tuner, text, written ? path : NULL, status);
    else if (text)
        report_print(tuner, text, written ? path : NULL);
    if (written)
        warn_of_stronger(tuner, section, path);
    free(text);
    free(section);
    free(path);
    return tuner->options.json ? status : output_finish(status);
}

/* ---- The subcommand ------------------------------------------------------------------------- */

static int run(struct tuner *tuner)
{
    if (!tuner_open(tuner) || !jobs_open(tuner) || !plan_trials(tuner))
        return TOOL_FAILED;
    if (tuner->options.list) {
        report_print_list(tuner);
        return output_finish(TOOL_DONE);
    }
    if (tuner->options.resume && !state_load(tuner))
        return TOOL_FAILED;
    progress_catch_signals();
    if (!run_all(tuner))
        return progress_stopped() ? say_stopped(tuner) : TOOL_FAILED;
    return show(tuner);
}

int cmd_tune(int argc, char **argv)
{
    static struct tuner tuner;
    int status;

    if (!tune_options_read(argc, argv, &tuner.options, &status))
        return status;
    tuner.begin = stopwatch_read();
    status = run(&tuner);
    tuner_close(&tuner);
    return status;
}
