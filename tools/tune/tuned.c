#include "tuned.h"

#include <stdio.h>
#include <string.h>

static const char mark[] = "tuned:";

static void copy_version(char *to, const char *driver)
{
    snprintf(to, TUNED_VERSION_SIZE, "%s", driver);
    for (; *to; to++) {
        if (*to == ',' || *to == '\n' || *to == '\r')
            *to = ' ';
    }
}

void tuned_set(struct tuned *tuned, const char *backend, const char *driver)
{
    unsigned i = 0;

    while (i < tuned->count && strcmp(tuned->drivers[i].backend, backend) != 0)
        i++;
    if (i == GANTRY_MAX_DEVICE_BACKENDS)
        return;
    if (i == tuned->count)
        tuned->count++;
    snprintf(tuned->drivers[i].backend, sizeof tuned->drivers[i].backend, "%s", backend);
    copy_version(tuned->drivers[i].driver, driver);
}

const char *tuned_driver(const struct tuned *tuned, const char *backend)
{
    for (unsigned i = 0; i < tuned->count; i++) {
        if (strcmp(tuned->drivers[i].backend, backend) == 0)
            return tuned->drivers[i].driver;
    }
    return NULL;
}

bool tuned_same_driver(const char *written, const char *driver)
{
    char version[TUNED_VERSION_SIZE];

    copy_version(version, driver);
    return strcmp(written, version) == 0;
}

void tuned_print(const struct tuned *tuned, char text[TUNED_SIZE])
{
    int used = snprintf(text, TUNED_SIZE, "%s ", mark);

    for (unsigned i = 0; i < tuned->count; i++)
        used += snprintf(text + used, TUNED_SIZE - (size_t)used, "%s %s, ",
                         tuned->drivers[i].backend, tuned->drivers[i].driver);
    snprintf(text + used, TUNED_SIZE - (size_t)used, "%s, gantry %s", tuned->date, tuned->gantry);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static bool is_date(const char *text)
{
    static const char form[] = "dddd-dd-dd";

    if (strlen(text) != sizeof form - 1)
        return false;
    for (size_t i = 0; form[i]; i++) {
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    }
    return true;
}

/* A part between commas: "cuda 13.0", a date, "gantry 0.1.0". */
static void read_part(char *part, struct tuned *tuned)
{
    char *blank = strchr(part, ' ');

    if (is_date(part)) {
        snprintf(tuned->date, sizeof tuned->date, "%s", part);
    } else if (blank) {
        *blank = '\0';
        if (strcmp(part, "gantry") == 0)
            snprintf(tuned->gantry, sizeof tuned->gantry, "%s", blank + 1);
        else
            tuned_set(tuned, part, blank + 1);
    }
}

bool tuned_read(const char *text, size_t length, struct tuned *tuned)
{
    char copy[TUNED_SIZE], *rest = NULL;

    *tuned = (struct tuned){0};
    if (length >= sizeof copy || length < sizeof mark || memcmp(text, mark, sizeof mark - 1) != 0)
        return false;
    memcpy(copy, text + sizeof mark - 1, length - sizeof mark + 1);
    copy[length - sizeof mark + 1] = '\0';
    for (char *part = strtok_r(copy, ",", &rest); part; part = strtok_r(NULL, ",", &rest))
        read_part(part + strspn(part, " \t"), tuned);
    return tuned->date[0] && tuned->count > 0;
}
