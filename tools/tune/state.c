/* The trials of a run that was stopped. */
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../output.h"
#include "userfile.h"
#include "section.h"
#include "tuner.h"

static const char *const standings[] = {"runs", "wrong", "failed"};
static const char *const outcomes[] = {"kept", "won", "undecided", "stopped", "broken"};

static char *state_path(const struct tuner *tuner)
{
    char file[MODEL_SIZE], name[MODEL_SIZE + 16];

    section_file_name(tuner->model, file);
    snprintf(name, sizeof name, "tune-%.*s.json", (int)strlen(file) - 4, file);
    return userfile_path("XDG_STATE_HOME", ".local/state", name);
}

/* ---- A trial -------------------------------------------------------------------------------- */

static json_t *value_json(const struct trial *trial, unsigned i)
{
    const struct contest_score *score = &trial->verdict.scores[i];

    return json_pack("{s:s, s:s, s:f, s:f, s:b, s:b, s:s}", "value", trial->values[i], "standing",
                     standings[score->standing], "ratio", score->ratio, "noise", score->noise,
                     "slower", score->slower, "unconfirmed", score->unconfirmed, "note",
                     trial->notes[i]);
}

json_t *trial_json(const struct tuner *tuner, const struct trial *trial)
{
    const struct contest_verdict *verdict = &trial->verdict;
    json_t *values = json_array(), *runner_up = json_null();

    for (unsigned i = 0; i < trial->value_count; i++)
        values = json_list_add(values, value_json(trial, i));
    if (trial->measured && verdict->runner_up >= 0)
        runner_up = json_string(trial->values[verdict->runner_up]);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:f, s:i, s:f, s:o}", "key", trial->key,
                     "backend", tuner->views[trial->backend].backend, "incumbent",
                     trial->values[trial->incumbent], "origin", trial->origin, "outcome",
                     trial->measured ? outcomes[verdict->outcome] : "not measured", "winner",
                     trial_winner(trial), "runner_up", runner_up, "noise",
                     trial->measured ? verdict->noise : 0.0, "rounds",
                     trial->measured ? (int)verdict->rounds : 0, "gain",
                     trial->measured ? trial_gain(trial, verdict->winner) : 0.0, "values", values);
}

static int index_of(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; word && i < count; i++) {
        if (strcmp(words[i], word) == 0)
            return (int)i;
    }
    return -1;
}

static int value_index(const struct trial *trial, const char *value)
{
    for (unsigned i = 0; value && i < trial->value_count; i++) {
        if (strcmp(trial->values[i], value) == 0)
            return (int)i;
    }
    return -1;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static bool read_scores(const json_t *values, struct trial *trial)
{
    for (size_t i = 0; i < trial->value_count; i++) {
        const json_t *value = json_array_get(values, i);
        int standing = index_of(standings, 3, text_of(value, "standing"));

        if (strcmp(text_of(value, "value"), trial->values[i]) != 0 || standing < 0)
            return false;
        trial->verdict.scores[i] = (struct contest_score){
            .standing = (enum contest_standing)standing,
            .ratio = json_number_value(json_object_get(value, "ratio")),
            .noise = json_number_value(json_object_get(value, "noise")),
            .slower = json_is_true(json_object_get(value, "slower")),
            .unconfirmed = json_is_true(json_object_get(value, "unconfirmed")),
        };
        snprintf(trial->notes[i], TRIAL_NOTE_SIZE, "%s", text_of(value, "note"));
    }
    return json_array_size(values) == trial->value_count;
}

/* False: it was about other values. */
static bool take_over(const json_t *object, struct trial *trial)
{
    struct trial copy = *trial;
    int outcome = index_of(outcomes, 5, text_of(object, "outcome"));
    int winner = value_index(trial, text_of(object, "winner"));

    if (outcome < 0 || winner < 0 ||
        strcmp(text_of(object, "incumbent"), trial->values[trial->incumbent]) != 0 ||
        !read_scores(json_object_get(object, "values"), &copy))
        return false;
    copy.verdict.outcome = (enum contest_outcome)outcome;
    copy.verdict.winner = (unsigned)winner;
    copy.verdict.runner_up = value_index(trial, text_of(object, "runner_up"));
    copy.verdict.noise = json_number_value(json_object_get(object, "noise"));
    copy.verdict.rounds = (unsigned)json_integer_value(json_object_get(object, "rounds"));
    copy.measured = true;
    *trial = copy;
    return true;
}

/* ---- The file ------------------------------------------------------------------------------- */

static json_t *drivers_json(const struct tuner *tuner)
{
    json_t *drivers = json_object();

    for (unsigned i = 0; i < tuner->view_count; i++)
        json_object_set_new(drivers, tuner->views[i].backend, json_string(tuner->views[i].driver));
    return drivers;
}

static json_t *key_json(const struct tuner *tuner)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:i}", "gantry", gantry_version(), "device",
                     tuner->info.name, "uuid", tuner->info.uuid ? tuner->info.uuid : "", "drivers",
                     drivers_json(tuner), "seconds", (int)tuner->options.seconds);
}

void state_save(const struct tuner *tuner)
{
    char *path = state_path(tuner), *text = NULL;
    json_t *trials = json_array(), *state;

    for (unsigned i = 0; i < tuner->trial_count; i++) {
        if (trial_decided(&tuner->trials[i]))
            trials = json_list_add(trials, trial_json(tuner, &tuner->trials[i]));
    }
    state = json_pack("{s:o, s:o}", "run", key_json(tuner), "trials", trials);
    if (state)
        text = json_dumps(state, JSON_INDENT(2));
    if (path && text)
        userfile_replace(path, text, strlen(text));
    json_decref(state);
    free(text);
    free(path);
}

void state_remove(const struct tuner *tuner)
{
    char *path = state_path(tuner);

    if (path && unlink(path) != 0 && errno != ENOENT)
        output_error("tune: %s can't be removed: %s", path, strerror(errno));
    free(path);
}

/* The first thing in which the two runs differ; NULL: none. */
static const char *difference(const json_t *was, const json_t *is)
{
    static const struct {
        const char *key, *name;
    } parts[] = {{"device", "device"},
                 {"uuid", "device (its UUID)"},
                 {"drivers", "driver"},
                 {"gantry", "version of gantry"},
                 {"seconds", "time to take (--quick, --seconds)"}};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!json_equal(json_object_get(was, parts[i].key), json_object_get(is, parts[i].key)))
            return parts[i].name;
    }
    return NULL;
}

static bool fits(const struct tuner *tuner, const char *path, const json_t *state)
{
    json_t *is = key_json(tuner);
    const char *other = difference(json_object_get(state, "run"), is);

    json_decref(is);
    if (other)
        output_error("tune: the run that was stopped was with another %s (%s; start anew without "
                     "--resume)",
                     other, path);
    return !other;
}

/* Trials whose values are other ones now are measured again. */
static void take_over_all(struct tuner *tuner, const json_t *trials)
{
    for (unsigned i = 0; i < tuner->trial_count; i++) {
        struct trial *trial = &tuner->trials[i];
        size_t index;
        json_t *object;

        json_array_foreach((json_t *)(uintptr_t)trials, index, object)
        {
            if (strcmp(text_of(object, "key"), trial->key) == 0 &&
                strcmp(text_of(object, "backend"), tuner->views[trial->backend].backend) == 0)
                take_over(object, trial);
        }
    }
}

bool state_load(struct tuner *tuner)
{
    char *path = state_path(tuner);
    json_error_t error;
    json_t *state;
    bool loaded = false;

    if (!path)
        return false;
    state = json_load_file(path, 0, &error);
    if (!state && access(path, F_OK) != 0)
        output_error("tune: no run on this device was stopped (%s is not there; leave out "
                     "--resume)",
                     path);
    else if (!state)
        output_error("tune: %s can't be read: %s (start anew without --resume)", path, error.text);
    else
        loaded = fits(tuner, path, state);
    if (loaded)
        take_over_all(tuner, json_object_get(state, "trials"));
    json_decref(state);
    free(path);
    return loaded;
}
