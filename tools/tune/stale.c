#include "stale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output.h"
#include "userfile.h"
#include "ini_lines.h"
#include "tuned.h"

/* What is looked for, and where. */
struct search {
    const struct gantry_device_info *info;
    bool stale; /* sections whose driver is another one now; otherwise the others */
    const char *file;
    size_t line;
};

/* One sentence for each backend. */
static json_t *add_remarks(json_t *list, const struct search *search, const struct tuned *tuned)
{
    for (uint32_t i = 0; i < search->info->backend_count; i++) {
        const char *backend = search->info->backends[i].backend;
        const char *driver = search->info->backends[i].driver_version;
        const char *written = tuned_driver(tuned, backend);
        char text[1024];

        if (!written || tuned_same_driver(written, driver) == search->stale)
            continue;
        if (search->stale)
            snprintf(text, sizeof text,
                     "%s:%zu: on %s with %s driver %s, but %s runs now (gantry tune --write "
                     "measures again)",
                     search->file, search->line, tuned->date, backend, written, driver);
        else
            snprintf(text, sizeof text, "%s:%zu: on %s with the %s driver that runs now",
                     search->file, search->line, tuned->date, backend);
        list = json_list_add(list, json_string(text));
    }
    return list;
}

static json_t *scan(json_t *list, struct search *search, const char *text, size_t size)
{
    char model[MODEL_SIZE];
    struct ini_lines lines;
    struct tuned tuned;

    ini_model(search->info->name, model);
    if (!ini_lines_read(text, size, model, &lines)) {
        json_decref(list);
        list = NULL;
    }
    for (size_t i = 0; list && i < lines.count; i++) {
        const struct ini_line *line = &lines.items[i];

        search->line = i + 1;
        if (line->own && line->kind == INI_COMMENT &&
            tuned_read(line->name, line->name_length, &tuned))
            list = add_remarks(list, search, &tuned);
    }
    ini_lines_free(&lines);
    return list;
}

static json_t *find(struct gantry *g, const struct gantry_device_info *info, bool stale)
{
    struct search search = {.info = info, .stale = stale};
    json_t *list = json_array();

    for (uint32_t i = 0; list && (search.file = gantry_config_file(g, i)); i++) {
        size_t size;
        char *text = userfile_read(search.file, &size);

        if (text)
            list = scan(list, &search, text, size);
        free(text);
    }
    return list;
}

json_t *stale_sections(struct gantry *g, const struct gantry_device_info *info)
{
    return find(g, info, true);
}

json_t *current_sections(struct gantry *g, const struct gantry_device_info *info)
{
    return find(g, info, false);
}

static void print(const char *word, json_t *list)
{
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item) printf("\n%s: %s\n", word, json_string_value(item));
    json_decref(list);
}

void stale_print(struct gantry *g, const struct gantry_device_info *info)
{
    print("tuned", current_sections(g, info));
    print("stale", stale_sections(g, info));
}
