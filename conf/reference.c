/* Prints a file with its tables of keys made anew from core/options.c: those of conf/README.md in
 * Markdown, those of the man page in roff. A table stands between two comments:
 *
 *     <!-- begin keys of [policy] -->        .\" begin keys of [policy]
 *     <!-- end -->                           .\" end */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/options.h"

enum { LINE_SIZE = 4096 };

static const char *fallback_of(const struct option *option)
{
    return option->fallback[0] ? option->fallback : "none";
}

/* ---- Markdown ------------------------------------------------------------------------------- */

static void markdown_row(enum option_id id)
{
    const struct option *option = &options[id];
    char range[OPTION_RANGE_SIZE];

    option_range(id, range);
    printf("| `%s` | %s | %s | %s | %s | %s%s |\n", option->name, option_type_name(option->type),
           range, option->unit ? option->unit : "", fallback_of(option),
           option->pending ? "*Not acted on yet.* " : "", option->effect);
}

static void markdown_table(unsigned scopes)
{
    puts("| key | type | values | unit | default | effect |\n|---|---|---|---|---|---|");
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (options[id].scope & scopes)
            markdown_row((enum option_id)id);
    }
}

/* ---- roff ----------------------------------------------------------------------------------- */

/* No text of the table begins with a '.' or "'", which roff would take for requests. */
static void roff_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
}

static void roff_item(enum option_id id)
{
    const struct option *option = &options[id];
    char range[OPTION_RANGE_SIZE];

    option_range(id, range);
    printf(".TP\n.B %s\n", option->name);
    roff_text(range);
    if (option->unit)
        printf(" (%s)", option->unit);
    fputs("; by default ", stdout);
    roff_text(fallback_of(option));
    puts(".\n.br");
    if (option->pending)
        puts("Not acted on yet.");
    roff_text(option->effect);
    putchar('\n');
}

static void roff_list(unsigned scopes)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (options[id].scope & scopes)
            roff_item((enum option_id)id);
    }
}

/* ---- The file ------------------------------------------------------------------------------- */

/* The scopes of the table that a line begins; 0 when it begins none. */
static unsigned table_scopes(const char *line)
{
    if (strstr(line, "begin keys of [gantry]"))
        return OPTION_OF_PROGRAM;
    return strstr(line, "begin keys of [policy]") ? OPTION_OF_POLICY : 0;
}

static bool ends_table(const char *line)
{
    return strcmp(line, "<!-- end -->\n") == 0 || strcmp(line, ".\\\" end\n") == 0;
}

static int print_file(FILE *file)
{
    char line[LINE_SIZE];
    bool inside = false;
    unsigned tables = 0;

    while (fgets(line, sizeof(line), file)) {
        unsigned scopes = table_scopes(line);

        inside = inside && !ends_table(line);
        if (!inside)
            fputs(line, stdout);
        if (!scopes)
            continue;
        if (line[0] == '<')
            markdown_table(scopes);
        else
            roff_list(scopes);
        inside = true;
        tables++;
    }
    return tables && !inside && !ferror(file) && fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    int status;

    if (!file) {
        fputs("usage: reference FILE\n", stderr);
        return 2;
    }
    status = print_file(file);
    if (status)
        fprintf(stderr, "reference: %s has no table of keys, or one without an end\n", argv[1]);
    fclose(file);
    return status;
}
