/* The configuration: files, variables, and whether gantry opens with them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "checks.h"
#include "isolate.h"

enum { MOST_FILES = 256, MOST_MESSAGES = 512 };

/* What opening gantry told. */
struct opening {
    struct gantry *g; /* NULL: it can't be opened */
    char *files[MOST_FILES];
    size_t file_count;
    struct message {
        enum gantry_log_level level;
        char *text;
        bool told; /* by a finding */
    } messages[MOST_MESSAGES];
    size_t message_count;
};

static void keep_message(void *user, enum gantry_log_level level, const char *text)
{
    struct opening *opening = user;
    char *copy = opening->message_count < MOST_MESSAGES ? strdup(text) : NULL;

    if (copy)
        opening->messages[opening->message_count++] = (struct message){level, copy, false};
}

static void keep_file(struct opening *opening, const char *path, size_t length)
{
    char *copy = opening->file_count < MOST_FILES ? strndup(path, length) : NULL;

    for (size_t i = 0; copy && i < opening->file_count; i++) {
        if (strcmp(opening->files[i], copy) == 0) {
            free(copy);
            return;
        }
    }
    if (copy)
        opening->files[opening->file_count++] = copy;
}

/* ---- Finding files -------------------------------------------------------------------------- */

static void keep_read_files(struct opening *opening, struct gantry *g)
{
    const char *file;

    for (uint32_t i = 0; (file = gantry_config_file(g, i)); i++)
        keep_file(opening, file, strlen(file));
}

/* Those that GANTRY_CONFIG lists, whether they could be read or not. */
static void keep_named_files(struct opening *opening)
{
    const char *list = getenv("GANTRY_CONFIG");

    while (list && *list) {
        size_t length = strcspn(list, ":");

        if (length && !(length == 4 && strncmp(list, "none", 4) == 0))
            keep_file(opening, list, length);
        list += length + (list[length] == ':');
    }
}

/* Opens gantry as a program would, but for the backends. */
static void open_as_it_is(struct opening *opening)
{
    const struct gantry_params params = {
        .override_text = NO_BACKEND,
        .log = keep_message,
        .log_user = opening,
        .log_level = GANTRY_LOG_WARNING,
    };

    memset(opening, 0, sizeof *opening);
    if (gantry_open(&params, &opening->g) == GANTRY_OK)
        keep_read_files(opening, opening->g);
    keep_named_files(opening);
}

static void close_opening(struct opening *opening)
{
    gantry_close(&opening->g);
    for (size_t i = 0; i < opening->file_count; i++)
        free(opening->files[i]);
    for (size_t i = 0; i < opening->message_count; i++)
        free(opening->messages[i].text);
}

/* ---- Files ---------------------------------------------------------------------------------- */

struct lint {
    struct report *report;
    unsigned remarks;
};

static void take_remark(void *user, const struct gantry_config_remark *remark)
{
    struct lint *lint = user;
    char subject[MACHINE_PATH_SIZE + 16];

    lint->remarks++;
    if (remark->line)
        snprintf(subject, sizeof subject, "%s:%u", remark->file, remark->line);
    else
        snprintf(subject, sizeof subject, "%s", remark->file);
    report_add(lint->report,
               &(struct finding){remark->mistake ? CODE_CONFIG_MISTAKE : CODE_CONFIG_DOUBTFUL,
                                 .subject = subject},
               "%s", remark->text);
}

static void check_file(struct report *report, const char *file)
{
    struct lint lint = {report, 0};
    const struct gantry_config_check_params params = {.file = file,
                                                      .remark = take_remark,
                                                      .user = &lint};
    enum gantry_status status = gantry_config_check(&params);

    if (status == GANTRY_E_IO)
        report_add(report, &(struct finding){CODE_CONFIG_UNREADABLE, .subject = file},
                   "a configuration file can't be read: %s", gantry_last_error());
    else if (lint.remarks == 0)
        report_add(report, &(struct finding){CODE_CONFIG_READ, .subject = file},
                   "nothing is wrong in it");
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* Whether the message is about one of the files, each of which was looked at by itself. */
static bool is_about_file(const struct opening *opening, const char *text)
{
    for (size_t i = 0; i < opening->file_count; i++) {
        size_t length = strlen(opening->files[i]);

        if (strncmp(text, opening->files[i], length) == 0 && text[length] == ':')
            return true;
    }
    return false;
}

/* "environment NAME: TEXT"; else a default file or folder that can't be read. */
static void report_message(struct report *report, const struct message *message)
{
    static const char prefix[] = "environment ";
    const char *end = strstr(message->text, ": ");
    struct finding finding = {CODE_CONFIG_UNREADABLE, .subject = message->text};
    char subject[256];

    if (strncmp(message->text, prefix, strlen(prefix)) == 0)
        finding.code = message->level == GANTRY_LOG_ERROR ? CODE_CONFIG_VARIABLE
                                                          : CODE_CONFIG_VARIABLE_DOUBTFUL;
    if (end) {
        snprintf(subject, sizeof subject, "%.*s", (int)(end - message->text), message->text);
        finding.subject = subject;
    }
    report_add(report, &finding, "%s", end ? end + 2 : "it can't be read");
}

static void report_messages(struct report *report, struct opening *opening)
{
    for (size_t i = 0; i < opening->message_count; i++) {
        struct message *message = &opening->messages[i];

        if (!is_about_file(opening, message->text))
            report_message(report, message);
    }
}

/* ---- Variables ------------------------------------------------------------------------------ */

static bool is_key(struct gantry *g, const char *name, size_t length)
{
    uint32_t count = gantry_config_count(g, UINT32_MAX);
    struct gantry_config_value value;

    for (uint32_t i = 0; i < count; i++) {
        if (gantry_config_get(g, UINT32_MAX, i, &value) == GANTRY_OK &&
            strlen(value.key) == length && strncasecmp(value.key, name, length) == 0)
            return true;
    }
    return false;
}

static bool was_told(const struct opening *opening, const char *variable, size_t length)
{
    static const char prefix[] = "environment ";

    for (size_t i = 0; i < opening->message_count; i++) {
        const char *text = opening->messages[i].text;

        if (strncmp(text, prefix, strlen(prefix)) == 0 &&
            strncmp(text + strlen(prefix), variable, length) == 0 &&
            text[strlen(prefix) + length] == ':')
            return true;
    }
    return false;
}

static void check_variable(struct report *report, const struct opening *opening,
                           const char *variable)
{
    static const char prefix[] = "GANTRY_";
    size_t front = strlen(prefix), length = strcspn(variable, "=");
    char subject[256];

    if (strncmp(variable, prefix, front) != 0 || length == front ||
        (length - front == 6 && strncmp(variable + front, "CONFIG", 6) == 0) ||
        is_key(opening->g, variable + front, length - front) || was_told(opening, variable, length))
        return;
    snprintf(subject, sizeof subject, "environment %.*s", (int)length, variable);
    report_add(report, &(struct finding){CODE_CONFIG_VARIABLE_UNKNOWN, .subject = subject},
               "it begins as gantry's variables do, but means nothing to the library");
}

/* ---- All of it ------------------------------------------------------------------------------ */

static bool found_mistake(const struct report *report)
{
    return report_has(report, CODE_CONFIG_MISTAKE) || report_has(report, CODE_CONFIG_UNREADABLE) ||
           report_has(report, CODE_CONFIG_VARIABLE);
}

void check_config(struct report *report)
{
    struct opening opening;
    char *sentence;

    open_as_it_is(&opening);
    sentence = strdup(gantry_last_error());
    for (size_t i = 0; i < opening.file_count; i++)
        check_file(report, opening.files[i]);
    report_messages(report, &opening);
    if (!opening.g && !found_mistake(report))
        report_add(report, &(struct finding){CODE_CONFIG_REFUSED, .subject = "gantry_open"},
                   "gantry can't be opened: %s", sentence ? sentence : "");
    for (char **variable = environ; opening.g && *variable; variable++)
        check_variable(report, &opening, *variable);
    if (opening.file_count == 0 && opening.message_count == 0 && opening.g)
        report_add(report, &(struct finding){CODE_CONFIG_READ, .subject = "no file"},
                   "there is none: the built-in values hold");
    free(sentence);
    close_opening(&opening);
}
