#include "result.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* "FILE:LINE" of that file, by whatever path. */
static bool set_in(const char *origin, const char *file)
{
    const char *colon = strrchr(origin, ':');
    char path[PATH_MAX], *left, *right;
    bool same;

    if (!file || !colon || (size_t)(colon - origin) >= sizeof path)
        return false;
    snprintf(path, sizeof path, "%.*s", (int)(colon - origin), origin);
    left = realpath(path, NULL);
    right = realpath(file, NULL);
    same = left && right && strcmp(left, right) == 0;
    free(left);
    free(right);
    return same;
}

static bool needs_line(const struct trial *trial, const char *file)
{
    return trial_changed(trial) || set_in(trial->origin, file);
}

static void add_line(struct section_key *key, const char *backend, const char *value)
{
    char name[SECTION_LINE_SIZE];
    unsigned i = key->count++;

    snprintf(name, sizeof name, "%.31s%s%s", backend ? backend : "", backend ? "." : "", key->key);
    memcpy(key->lines[i].name, name, sizeof name);
    snprintf(key->lines[i].value, SECTION_VALUE_SIZE, "%s", value);
}

static void add_comment(const struct tuner *tuner, const struct trial *trial,
                        struct section_key *key)
{
    char sentence[TRIAL_SENTENCE_SIZE];

    trial_sentence(trial, sentence);
    snprintf(key->comments[key->backend_count], SECTION_COMMENT_SIZE, "tuned %s through %s: %s",
             trial->key, tuner->views[trial->backend].backend, sentence);
    key->backends[key->backend_count++] = tuner->views[trial->backend].backend;
}

/* The trials of one key, of which there is one for each backend. */
struct group {
    const struct trial *trials[GANTRY_MAX_DEVICE_BACKENDS];
    unsigned count;
};

static struct group gather(const struct tuner *tuner, const char *key)
{
    struct group group = {.count = 0};

    for (unsigned i = 0; i < tuner->trial_count; i++) {
        const struct trial *trial = &tuner->trials[i];

        if (strcmp(trial->key, key) == 0 && trial_decided(trial))
            group.trials[group.count++] = trial;
    }
    return group;
}

/* One line without a backend will do: no backend would want another value. */
static bool agree(const struct tuner *tuner, const struct group *group)
{
    for (unsigned i = 1; i < group->count; i++) {
        if (strcmp(trial_winner(group->trials[i]), trial_winner(group->trials[0])) != 0)
            return false;
    }
    return group->count == tuner_usable_backends(tuner);
}

static void fill_key(const struct tuner *tuner, const struct group *group, const char *file,
                     struct section_key *key)
{
    unsigned usable = tuner_usable_backends(tuner), needed = 0;

    for (unsigned i = 0; i < group->count; i++) {
        add_comment(tuner, group->trials[i], key);
        needed += needs_line(group->trials[i], file) ? 1 : 0;
    }
    if (needed && agree(tuner, group)) {
        add_line(key, NULL, trial_winner(group->trials[0]));
    } else {
        for (unsigned i = 0; i < group->count; i++) {
            const struct trial *trial = group->trials[i];

            if (needs_line(trial, file))
                add_line(key, tuner->views[trial->backend].backend, trial_winner(trial));
        }
    }
    key->complete = needed && (agree(tuner, group) || key->count == usable);
}

/* `backend` belongs into [gantry], where one device can't set it; so it is only said. */
static void add_backends(const struct tuner *tuner, const struct trial *trial,
                         struct section_key *key)
{
    char sentence[TRIAL_SENTENCE_SIZE];
    int used;

    trial_sentence(trial, sentence);
    key->backends[0] = tuner->views[trial->backend].backend;
    key->backend_count = 1;
    used = snprintf(key->comments[0], SECTION_COMMENT_SIZE, "tuned backend through %s: %s",
                    key->backends[0], sentence);
    if (trial_changed(trial))
        snprintf(key->comments[0] + used, SECTION_COMMENT_SIZE - (size_t)used,
                 " (backend = %s, %s in [gantry] would prefer it, for all devices)",
                 trial_winner(trial), trial->values[trial->incumbent]);
}

static bool has_key(const struct section *section, const char *key)
{
    for (unsigned i = 0; i < section->count; i++) {
        if (strcmp(section->keys[i].key, key) == 0)
            return true;
    }
    return false;
}

void result_section(const struct tuner *tuner, const char *file, struct section *section)
{
    time_t seconds = time(NULL);
    struct tm date;

    *section = (struct section){.model = tuner->model};
    for (unsigned i = 0; i < tuner->view_count; i++)
        tuned_set(&section->tuned, tuner->views[i].backend, tuner->views[i].driver);
    if (localtime_r(&seconds, &date))
        strftime(section->tuned.date, sizeof section->tuned.date, "%Y-%m-%d", &date);
    snprintf(section->tuned.gantry, sizeof section->tuned.gantry, "%s", gantry_version());
    for (unsigned i = 0; i < tuner->trial_count && section->count < SECTION_KEYS; i++) {
        const struct trial *trial = &tuner->trials[i];
        struct section_key *key = &section->keys[section->count];
        struct group group = gather(tuner, trial->key);

        if (!trial_decided(trial) || has_key(section, trial->key))
            continue;
        section->count++;
        snprintf(key->key, SECTION_NAME_SIZE, "%s", trial->key);
        if (trial->kind == TRIAL_BACKEND)
            add_backends(tuner, trial, key);
        else
            fill_key(tuner, &group, file, key);
    }
}
