/* What tuning has found, for people and as JSON. */
#include <stdio.h>

#include "../output.h"
#include "tuner.h"

static void print_values(const struct trial *trial)
{
    for (unsigned i = 0; i < trial->value_count; i++)
        printf("%s%s%s", i ? " " : "", trial->values[i], i == trial->incumbent ? "*" : "");
}

static void print_device(const struct tuner *tuner)
{
    printf("Device %u: %s\n", tuner->info.index, tuner->info.name);
    for (unsigned i = 0; i < tuner->view_count; i++)
        printf("  through %s, driver %s\n", tuner->views[i].backend, tuner->views[i].driver);
}

static void print_left_out(const struct tuner *tuner)
{
    if (tuner->left_out_count)
        puts("\nLeft out");
    for (unsigned i = 0; i < tuner->left_out_count; i++)
        printf("  %s\n", tuner->left_out[i]);
}

void report_print_list(const struct tuner *tuner)
{
    print_device(tuner);
    puts("\nWould be tried (* is in force)");
    for (unsigned i = 0; i < tuner->trial_count; i++) {
        const struct trial *trial = &tuner->trials[i];

        printf("  %-7s %-36s ", tuner->views[trial->backend].backend, trial->key);
        print_values(trial);
        printf("  (%s)\n", trial->origin);
    }
    print_left_out(tuner);
}

static void print_trial(const struct tuner *tuner, const struct trial *trial)
{
    char sentence[TRIAL_SENTENCE_SIZE];

    trial_sentence(trial, sentence);
    printf("  %-7s %-36s %s\n", tuner->views[trial->backend].backend, trial->key, sentence);
    for (unsigned i = 0; i < trial->value_count; i++) {
        if (trial->notes[i][0])
            printf("  %-7s %-36s   %s: %s\n", "", "", trial->values[i], trial->notes[i]);
    }
}

void report_print(const struct tuner *tuner, const char *section, const char *written)
{
    print_device(tuner);
    puts("\nFound");
    for (unsigned i = 0; i < tuner->trial_count; i++)
        print_trial(tuner, &tuner->trials[i]);
    print_left_out(tuner);
    if (written)
        printf("\nWritten to %s:\n\n%s", written, section);
    else
        printf("\nThe section (--write puts it into your configuration):\n\n%s", section);
}

int report_print_json(const struct tuner *tuner, const char *section, const char *written,
                      int status)
{
    json_t *backends = json_array(), *trials = json_array(), *left_out = json_array();

    for (unsigned i = 0; i < tuner->view_count; i++)
        backends =
            json_list_add(backends, json_pack("{s:s, s:s}", "backend", tuner->views[i].backend,
                                              "driver_version", tuner->views[i].driver));
    for (unsigned i = 0; i < tuner->trial_count; i++)
        trials = json_list_add(trials, trial_json(tuner, &tuner->trials[i]));
    for (unsigned i = 0; i < tuner->left_out_count; i++)
        left_out = json_list_add(left_out, json_string(tuner->left_out[i]));
    return output_json(json_pack("{s:s, s:s, s:o, s:i, s:o, s:o, s:s?, s:s?}", "device",
                                 tuner->info.name, "model", tuner->model, "backends", backends,
                                 "seconds", (int)tuner->options.seconds, "trials", trials,
                                 "left_out", left_out, "section", section, "written", written),
                       status);
}
