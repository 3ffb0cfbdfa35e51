/* Fuzz target: an INI file into which tuning writes its section. The first byte says what it
 * writes, the rest is the file. */
#include "fuzz.h"

#include <string.h>

#include "tools/tune/section.h"

static void add_key(struct section *section, const char *name, const char *value,
                    const char *backend)
{
    struct section_key *key = &section->keys[section->count++];

    snprintf(key->key, sizeof(key->key), "%s", name);
    if (value) {
        snprintf(key->lines[0].name, sizeof(key->lines[0].name), "%s%s%s", backend ? backend : "",
                 backend ? "." : "", name);
        snprintf(key->lines[0].value, sizeof(key->lines[0].value), "%s", value);
        key->count = 1;
    }
    key->complete = backend == NULL;
    key->backends[0] = "cuda";
    key->backend_count = 1;
    snprintf(key->comments[0], sizeof(key->comments[0]), "tuned %s through cuda: because", name);
}

static void make_section(struct section *section, uint8_t choice)
{
    *section = (struct section){.model = "h200"};
    tuned_set(&section->tuned, "cuda", "13.0");
    snprintf(section->tuned.date, sizeof(section->tuned.date), "2026-11-30");
    snprintf(section->tuned.gantry, sizeof(section->tuned.gantry), "0.1.0");
    if (choice & 1)
        add_key(section, "chains", "4", choice & 2 ? "cuda" : NULL);
    if (choice & 4)
        add_key(section, "batch_size", choice & 8 ? "32" : NULL, NULL);
    if (choice & 16)
        add_key(section, "block_size.edge/sobel", "32x8", choice & 32 ? "cuda" : NULL);
}

/* ---- What must hold ------------------------------------------------------------------------- */

/* The lines that are not the section's are there, byte for byte and in their order. */
static void check_others(const char *before, size_t size, const char *after, size_t after_size)
{
    struct ini_lines old, new;
    size_t at = 0;

    HOLDS(ini_lines_read(before, size, "h200", &old));
    HOLDS(ini_lines_read(after, after_size, "h200", &new));
    for (size_t i = 0; i < old.count; i++) {
        const struct ini_line *line = &old.items[i];

        if (line->own)
            continue;
        while (at < new.count && (new.items[at].own || new.items[at].length != line->length ||
                                  memcmp(new.items[at].text, line->text, line->length) != 0))
            at++;
        HOLDS(at++ < new.count);
    }
    ini_lines_free(&old);
    ini_lines_free(&new);
}

static bool is_good(const char *text, size_t size)
{
    const struct gantry_config_check_params params = {.file = "f.ini", .text = text, .size = size};

    return gantry_config_check(&params) == GANTRY_OK;
}

/* A second time nothing is left to change. */
static void check_again(const struct section *section, const char *text, size_t size)
{
    size_t again_size = size;
    char *again = section_put(section, text, &again_size);

    HOLDS(again && again_size == size && memcmp(text, again, size) == 0);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct section *section = calloc(1, sizeof(*section));
    const char *text = (const char *)data + 1;
    size_t written = size - 1;
    char *after;

    HOLDS(section);
    if (size > 0) {
        make_section(section, data[0]);
        after = section_put(section, text, &written);
        HOLDS(after && strlen(after) <= written);
        check_others(text, size - 1, after, written);
        if (is_good(text, size - 1)) {
            HOLDS(is_good(after, written));
            check_again(section, after, written);
        }
        free(after);
    }
    free(section);
    return 0;
}
