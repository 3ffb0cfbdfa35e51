#include "section.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/ascii.h"

struct writer {
    const struct section *section;
    const struct ini_lines *lines;
    size_t last_own; /* the last line of its last section that says something; lines->count: none */
    size_t header;   /* of that section */
    const char *end; /* how lines end in the file */
    bool written[SECTION_KEYS][GANTRY_MAX_DEVICE_BACKENDS];
    struct tuned tuned; /* the new drivers, and the old ones of backends that were not tuned now */
    FILE *out;
    char *text; /* what was written so far, as of the latest flush */
    size_t size;
};

/* ---- What a line is about ------------------------------------------------------------------- */

static bool starts(const struct ini_line *line, const char *start)
{
    size_t length = strlen(start);

    return line->name_length >= length && memcmp(line->name, start, length) == 0;
}

/* The options of a key are in any case, names of kernels are not. */
static bool same_key(const char *name, size_t length, const char *key)
{
    const char *suffix = strchr(key, '.');
    size_t plain = suffix ? (size_t)(suffix - key) : strlen(key);
    char word[SECTION_NAME_SIZE], wanted[SECTION_NAME_SIZE];

    if (length != strlen(key) || length >= sizeof word)
        return false;
    snprintf(word, sizeof word, "%.*s", (int)plain, name);
    snprintf(wanted, sizeof wanted, "%.*s", (int)plain, key);
    return ascii_same(word, wanted) &&
           (!suffix || memcmp(name + plain, suffix, length - plain) == 0);
}

/* Which of the section's keys a line sets, and through which backend: NULL for all. */
static const struct section_key *find_key(const struct section *section,
                                          const struct ini_line *line, const char **backend)
{
    for (unsigned i = 0; i < section->count; i++) {
        const struct section_key *key = &section->keys[i];

        *backend = NULL;
        if (same_key(line->name, line->name_length, key->key))
            return key;
        for (unsigned b = 0; b < key->backend_count; b++) {
            size_t length = strlen(key->backends[b]);

            *backend = key->backends[b];
            if (line->name_length > length + 1 && line->name[length] == '.' &&
                strncasecmp(line->name, *backend, length) == 0 &&
                same_key(line->name + length + 1, line->name_length - length - 1, key->key))
                return key;
        }
    }
    return NULL;
}

/* The number of the key's line with that backend in front; -1: it has none. */
static int find_line(const struct section_key *key, const char *backend)
{
    for (unsigned i = 0; i < key->count; i++) {
        bool plain = strcmp(key->lines[i].name, key->key) == 0;
        size_t length = backend ? strlen(backend) : 0;

        if (backend ? !plain && strncmp(key->lines[i].name, backend, length) == 0 &&
                          key->lines[i].name[length] == '.'
                    : plain)
            return (int)i;
    }
    return -1;
}

/* A line that says otherwise than what is written now, or would beat it. */
static bool is_obsolete(const struct section_key *key, const char *backend)
{
    if (find_line(key, backend) >= 0)
        return false;
    return backend ? find_line(key, NULL) >= 0 : key->complete;
}

/* Whether a later line sets the same. */
static bool comes_again(const struct writer *writer, size_t index, const struct section_key *key,
                        const char *backend)
{
    for (size_t i = index + 1; i < writer->lines->count; i++) {
        const struct ini_line *line = &writer->lines->items[i];
        const char *other;

        if (line->own && line->kind == INI_KEY && find_key(writer->section, line, &other) == key &&
            other == backend)
            return true;
    }
    return false;
}

/* A comment of an earlier run about what this run has measured. */
static bool is_old_comment(const struct section *section, const struct ini_line *line)
{
    struct tuned tuned;

    if (tuned_read(line->name, line->name_length, &tuned))
        return true;
    for (unsigned i = 0; i < section->count; i++) {
        for (unsigned b = 0; b < section->keys[i].backend_count; b++) {
            char start[SECTION_COMMENT_SIZE];

            snprintf(start, sizeof start, "tuned %s through %s:", section->keys[i].key,
                     section->keys[i].backends[b]);
            if (starts(line, start))
                return true;
        }
    }
    return false;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void copy_line(struct writer *writer, const struct ini_line *line)
{
    fwrite(line->text, 1, line->whole, writer->out);
}

/* The value alone is another; what stands around it stays. */
static void change_value(struct writer *writer, const struct ini_line *line, const char *value)
{
    size_t before = (size_t)(line->value - line->text);
    size_t after = before + line->value_length;

    fwrite(line->text, 1, before, writer->out);
    fputs(value, writer->out);
    fwrite(line->text + after, 1, line->whole - after, writer->out);
}

/* The line before what is added need not have an end, or only the first half of one. */
static void begin_line(struct writer *writer)
{
    char last;

    fflush(writer->out);
    last = writer->size ? writer->text[writer->size - 1] : '\n';
    if (last != '\n')
        fputs(last == '\r' ? "\n" : writer->end, writer->out);
}

static void put_comments(struct writer *writer)
{
    const struct section *section = writer->section;
    char text[TUNED_SIZE];

    tuned_print(&writer->tuned, text);
    begin_line(writer);
    fprintf(writer->out, "; %s%s", text, writer->end);
    for (unsigned i = 0; i < section->count; i++) {
        for (unsigned b = 0; b < section->keys[i].backend_count; b++)
            fprintf(writer->out, "; %s%s", section->keys[i].comments[b], writer->end);
    }
}

static void put_new_keys(struct writer *writer)
{
    for (unsigned i = 0; i < writer->section->count; i++) {
        const struct section_key *key = &writer->section->keys[i];

        for (unsigned line = 0; line < key->count; line++) {
            if (writer->written[i][line])
                continue;
            begin_line(writer);
            fprintf(writer->out, "%s = %s%s", key->lines[line].name, key->lines[line].value,
                    writer->end);
        }
    }
}

static void put_key(struct writer *writer, size_t index)
{
    const struct ini_line *line = &writer->lines->items[index];
    const char *backend;
    const struct section_key *key = find_key(writer->section, line, &backend);
    int place = key ? find_line(key, backend) : -1;

    if (!key || (place < 0 && !is_obsolete(key, backend))) {
        copy_line(writer, line);
    } else if (place >= 0 && !comes_again(writer, index, key, backend)) {
        change_value(writer, line, key->lines[place].value);
        writer->written[key - writer->section->keys][place] = true;
    }
}

static void put_line(struct writer *writer, size_t index)
{
    const struct ini_line *line = &writer->lines->items[index];

    if (!line->own || (line->kind != INI_KEY && line->kind != INI_COMMENT))
        copy_line(writer, line);
    else if (line->kind == INI_KEY)
        put_key(writer, index);
    else if (!is_old_comment(writer->section, line))
        copy_line(writer, line);
}

static void put_existing(struct writer *writer)
{
    for (size_t i = 0; i < writer->lines->count; i++) {
        put_line(writer, i);
        if (i == writer->header)
            put_comments(writer);
        if (i == writer->last_own)
            put_new_keys(writer);
    }
}

static void put_new(struct writer *writer)
{
    size_t count = writer->lines->count;

    for (size_t i = 0; i < count; i++)
        copy_line(writer, &writer->lines->items[i]);
    begin_line(writer);
    if (count)
        fputs(writer->end, writer->out);
    fprintf(writer->out, "[gpu %s]%s", writer->section->model, writer->end);
    put_comments(writer);
    put_new_keys(writer);
}

/* ---- The file ------------------------------------------------------------------------------- */

static void look_around(struct writer *writer)
{
    const struct ini_lines *lines = writer->lines;
    const struct section *section = writer->section;

    writer->header = writer->last_own = lines->count;
    writer->end = "\n";
    if (lines->count && lines->items[0].whole > lines->items[0].length &&
        lines->items[0].text[lines->items[0].length] == '\r')
        writer->end = "\r\n";
    for (size_t i = 0; i < lines->count; i++) {
        const struct ini_line *line = &lines->items[i];
        struct tuned old;

        if (!line->own)
            continue;
        if (line->kind == INI_SECTION)
            writer->header = i;
        if (line->kind != INI_OTHER)
            writer->last_own = i;
        if (line->kind == INI_COMMENT && tuned_read(line->name, line->name_length, &old)) {
            for (unsigned d = 0; d < old.count; d++)
                tuned_set(&writer->tuned, old.drivers[d].backend, old.drivers[d].driver);
        }
    }
    for (unsigned d = 0; d < section->tuned.count; d++)
        tuned_set(&writer->tuned, section->tuned.drivers[d].backend,
                  section->tuned.drivers[d].driver);
    memcpy(writer->tuned.date, section->tuned.date, sizeof writer->tuned.date);
    memcpy(writer->tuned.gantry, section->tuned.gantry, sizeof writer->tuned.gantry);
}

char *section_put(const struct section *section, const char *text, size_t *size)
{
    struct writer writer = {.section = section};
    struct ini_lines lines;
    bool failed = !ini_lines_read(text, *size, section->model, &lines);

    if (!failed)
        writer.out = open_memstream(&writer.text, &writer.size);
    if (writer.out) {
        writer.lines = &lines;
        look_around(&writer);
        if (writer.header < lines.count)
            put_existing(&writer);
        else
            put_new(&writer);
        failed = ferror(writer.out) != 0;
        failed |= fclose(writer.out) != 0;
    }
    ini_lines_free(&lines);
    if (failed) {
        free(writer.text);
        return NULL;
    }
    *size = writer.size;
    return writer.text;
}

void section_file_name(const char *model, char name[MODEL_SIZE])
{
    size_t used = 0;

    for (; *model && used < MODEL_SIZE - 5; model++) {
        char c = ascii_word(*model) ? ascii_lower(*model) : '-';

        if (c != '-' || (used && name[used - 1] != '-'))
            name[used++] = c;
    }
    while (used && name[used - 1] == '-')
        used--;
    snprintf(name + used, MODEL_SIZE - used, ".ini");
}
