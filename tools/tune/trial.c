#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number that a value begins with; negative for words, which stand before all numbers. */
static long order_of(const char *value)
{
    return value[0] >= '0' && value[0] <= '9' ? strtol(value, NULL, 10) : -1;
}

static bool find(const struct trial *trial, const char *value, unsigned *index)
{
    for (*index = 0; *index < trial->value_count; ++*index) {
        if (strcmp(trial->values[*index], value) == 0)
            return true;
    }
    return false;
}

/* Blocks of several axes keep the order in which they are added. */
static unsigned place_of(const struct trial *trial, const char *value)
{
    unsigned place = trial->value_count;

    if (trial->kind == TRIAL_BACKEND || strchr(value, 'x'))
        return place;
    while (place > 0 && order_of(trial->values[place - 1]) > order_of(value))
        place--;
    return place;
}

bool trial_add_value(struct trial *trial, const char *value)
{
    unsigned place;

    if (find(trial, value, &place))
        return true;
    if (trial->value_count == CONTEST_ENTRANTS || strlen(value) >= TRIAL_VALUE_SIZE)
        return false;
    place = place_of(trial, value);
    memmove(trial->values[place + 1], trial->values[place],
            (trial->value_count - place) * sizeof trial->values[0]);
    strcpy(trial->values[place], value);
    trial->value_count++;
    if (trial->value_count > 1 && trial->incumbent >= place)
        trial->incumbent++;
    return true;
}

bool trial_set_incumbent(struct trial *trial, const char *value)
{
    return trial_add_value(trial, value) && find(trial, value, &trial->incumbent);
}

bool trial_decided(const struct trial *trial)
{
    return trial->measured && trial->verdict.outcome != CONTEST_BROKEN &&
           trial->verdict.outcome != CONTEST_UNDECIDED;
}

bool trial_changed(const struct trial *trial)
{
    return trial->measured && trial->verdict.winner != trial->incumbent;
}

const char *trial_winner(const struct trial *trial)
{
    return trial->values[trial->measured ? trial->verdict.winner : trial->incumbent];
}

double trial_gain(const struct trial *trial, unsigned value)
{
    double ratio = trial->verdict.scores[value].ratio;

    return ratio > 0 ? 1 - ratio : 0;
}

/* "3.2 ± 0.4 % less time" or "more". */
static void print_gain(FILE *stream, const struct trial *trial, unsigned value)
{
    const struct contest_score *score = &trial->verdict.scores[value];
    double gain = 100 * trial_gain(trial, value);

    fprintf(stream, "%.1f ± %.1f %% %s time", gain < 0 ? -gain : gain, 100 * score->noise,
            gain < 0 ? "more" : "less");
    if (score->unconfirmed)
        fputs(", but not the second time", stream);
    else if (gain > 0 && score->slower)
        fputs(" in all, but more with a part of the work", stream);
}

static void print_outcome(FILE *stream, const struct trial *trial)
{
    const struct contest_verdict *verdict = &trial->verdict;
    const char *incumbent = trial->values[trial->incumbent];

    switch (verdict->outcome) {
    case CONTEST_WON:
        fprintf(stream, "%s instead of %s, ", trial_winner(trial), incumbent);
        print_gain(stream, trial, verdict->winner);
        break;
    case CONTEST_KEPT:
        fprintf(stream, "%s stays", incumbent);
        break;
    case CONTEST_UNDECIDED:
        fprintf(stream, "%s stays, for there was not enough time to measure", incumbent);
        break;
    case CONTEST_STOPPED:
        fputs("stopped", stream);
        break;
    case CONTEST_BROKEN:
        fprintf(stream, "%s, which is in force, does not work", incumbent);
        break;
    }
}

static void print_others(FILE *stream, const struct trial *trial)
{
    const struct contest_verdict *verdict = &trial->verdict;

    if (verdict->runner_up >= 0) {
        unsigned next = (unsigned)verdict->runner_up;

        fprintf(stream, "; runner-up %s", trial->values[next]);
        if (next != trial->incumbent) {
            fputs(", ", stream);
            print_gain(stream, trial, next);
        }
    }
    if (verdict->rounds)
        fprintf(stream, "; noise %.1f %%%s", 100 * verdict->noise,
                verdict->noise > CONTEST_MOST_NOISE ? ", too much to tell (what else runs here?)"
                                                    : "");
    for (unsigned i = 0; i < trial->value_count; i++) {
        if (verdict->scores[i].standing == CONTEST_WRONG)
            fprintf(stream, "; %s is out: WRONG RESULTS", trial->values[i]);
    }
}

void trial_sentence(const struct trial *trial, char text[TRIAL_SENTENCE_SIZE])
{
    FILE *stream = fmemopen(text, TRIAL_SENTENCE_SIZE, "w");

    text[0] = '\0';
    if (!stream)
        return;
    if (trial->measured) {
        print_outcome(stream, trial);
        print_others(stream, trial);
    } else {
        fputs("not measured", stream);
    }
    fclose(stream);
    text[TRIAL_SENTENCE_SIZE - 1] = '\0';
}
