#include "stale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output.h"
#include "userfile.h"
#include "ini_lines.h"
#include "tuned.h"

struct place {
    const char *file;
    size_t line;
};

/* One sentence for each backend whose driver is another. */
static json_t *add_remarks(json_t *list, const struct gantry_device_info *info,
                           const struct tuned *tuned, const struct place *place)
{
    for (uint32_t i = 0; i < info->backend_count; i++) {
        const char *driver = info->backends[i].driver_version;
        const char *written = tuned_driver(tuned, info->backends[i].backend);
        char text[1024];

        if (!written || tuned_same_driver(written, driver))
            continue;
        snprintf(text, sizeof text,
                 "%s:%zu: tuned on %s with %s driver %s, but %s runs now (gantry tune --write "
                 "measures again)",
                 place->file, place->line, tuned->date, info->backends[i].backend, written, driver);
        list = json_list_add(list, json_string(text));
    }
    return list;
}

static json_t *scan(json_t *list, const struct gantry_device_info *info, const char *file,
                    const char *text, size_t size)
{
    char model[MODEL_SIZE];
    struct ini_lines lines;
    struct tuned tuned;

    ini_model(info->name, model);
    if (!ini_lines_read(text, size, model, &lines)) {
        json_decref(list);
        list = NULL;
    }
    for (size_t i = 0; list && i < lines.count; i++) {
        const struct ini_line *line = &lines.items[i];
        const struct place place = {file, i + 1};

        if (line->own && line->kind == INI_COMMENT &&
            tuned_read(line->name, line->name_length, &tuned))
            list = add_remarks(list, info, &tuned, &place);
    }
    ini_lines_free(&lines);
    return list;
}

json_t *stale_sections(struct gantry *g, const struct gantry_device_info *info)
{
    json_t *list = json_array();
    const char *file;

    for (uint32_t i = 0; list && (file = gantry_config_file(g, i)); i++) {
        size_t size;
        char *text = userfile_read(file, &size);

        if (text)
            list = scan(list, info, file, text, size);
        free(text);
    }
    return list;
}

void stale_print(struct gantry *g, const struct gantry_device_info *info)
{
    json_t *list = stale_sections(g, info), *item;
    size_t i;

    json_array_foreach(list, i, item) printf("\nstale: %s\n", json_string_value(item));
    json_decref(list);
}
