/* gantry config --check: what is wrong in configuration files that are not in force. */
#include "config_check.h"

#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "output.h"
#include "tool.h"

static const char usage[] =
    "usage: gantry config --check FILE… [--package P]… [--json]\n"
    "\n"
    "Reads configuration files as if somebody had named them, without using them, and\n"
    "prints a line for everything that is wrong or unlikely to be meant:\n"
    "\n"
    "  FILE:LINE: mistake: …    it is not understood, or can't be used, and does not count\n"
    "  FILE:LINE: doubtful: …   it counts, but look at it again\n"
    "\n"
    "  --package P  compare block_size.KERNEL keys with the kernels of this package too\n"
    "  --json       print one JSON object\n"
    "\n"
    "Exit status: 0 no mistake, 1 a mistake or a file that can't be read, 2 wrong usage.\n";

enum { FILES = 1024, PACKAGES = 64 };

/* What is being checked, and what was found. */
struct check {
    bool json;
    struct gantry_config_check_params params;
    json_t *remarks; /* of the present file; NULL as text, and when memory ran out */
    unsigned mistakes, doubts;
};

static const char *severity(const struct gantry_config_remark *remark)
{
    return remark->mistake ? "mistake" : "doubtful";
}

static void take_remark(void *user, const struct gantry_config_remark *remark)
{
    struct check *check = user;

    *(remark->mistake ? &check->mistakes : &check->doubts) += 1;
    if (check->json)
        check->remarks =
            json_list_add(check->remarks,
                          json_pack("{s:I, s:s, s:s}", "line", (json_int_t)remark->line, "severity",
                                    severity(remark), "text", remark->text));
    else if (remark->line)
        printf("%s:%u: %s: %s\n", remark->file, remark->line, severity(remark), remark->text);
    else
        printf("%s: %s: %s\n", remark->file, severity(remark), remark->text);
}

/* ---- Files ---------------------------------------------------------------------------------- */

static bool check_file(struct check *check, const char *file)
{
    enum gantry_status status;

    check->params.file = file;
    status = gantry_config_check(&check->params);
    if (status == GANTRY_OK || status == GANTRY_E_CONFIG)
        return true;
    output_failure("config");
    return false;
}

static int check_as_text(struct check *check, const struct argument_list *files)
{
    bool read = true;

    for (size_t i = 0; i < files->count; i++)
        read = check_file(check, files->items[i]) && read;
    return output_finish(read && !check->mistakes ? TOOL_DONE : TOOL_FAILED);
}

static int check_as_json(struct check *check, const struct argument_list *files)
{
    json_t *list = json_array();
    bool all_read = true;

    for (size_t i = 0; i < files->count; i++) {
        bool read;

        check->remarks = json_array();
        read = check_file(check, files->items[i]);
        all_read = all_read && read;
        list = json_list_add(list, json_pack("{s:s, s:b, s:o}", "file", files->items[i], "read",
                                             read, "remarks", check->remarks));
    }
    return output_json(json_pack("{s:o, s:I, s:I}", "files", list, "mistakes",
                                 (json_int_t)check->mistakes, "doubtful",
                                 (json_int_t)check->doubts),
                       all_read && !check->mistakes ? TOOL_DONE : TOOL_FAILED);
}

/* ---- The subcommand ------------------------------------------------------------------------- */

static bool open_packages(const struct argument_list *names, struct gantry_package **packages)
{
    for (size_t i = 0; i < names->count; i++) {
        const struct gantry_package_params params = {.file = names->items[i]};

        if (gantry_package_open(&params, &packages[i]) != GANTRY_OK) {
            output_failure("config");
            return false;
        }
    }
    return true;
}

bool config_check_asked(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--check") == 0)
            return true;
    }
    return false;
}

int config_check(int argc, char **argv)
{
    const char *file_names[FILES], *package_names[PACKAGES];
    struct gantry_package *packages[PACKAGES] = {NULL};
    struct argument_list files = {.items = file_names, .room = FILES};
    struct argument_list names = {.items = package_names, .room = PACKAGES};
    struct check check = {.params = {.remark = take_remark, .user = &check}};
    bool asked = false;
    const struct argument table[] = {
        {"--check", .flag = &asked},
        {"--package", .list = &names},
        {"--json", .flag = &check.json},
        {"FILE", .list = &files},
    };
    int status;

    if (!arguments_read(argc, argv, usage, table, sizeof table / sizeof *table, &status))
        return status;
    status = TOOL_FAILED;
    if (open_packages(&names, packages)) {
        check.params.packages = (const struct gantry_package *const *)packages;
        check.params.package_count = (uint32_t)names.count;
        status = check.json ? check_as_json(&check, &files) : check_as_text(&check, &files);
    }
    for (size_t i = 0; i < names.count; i++)
        gantry_package_close(&packages[i]);
    return status;
}
