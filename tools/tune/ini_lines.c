#include "ini_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/ascii.h"
#include "../../core/model.h"

void ini_model(const char *device_name, char model[MODEL_SIZE])
{
    char text[MODEL_SIZE];

    model[0] = '\0';
    if (model_normalise(device_name, text, sizeof text))
        snprintf(model, MODEL_SIZE, "%s", model_without_vendor(text));
    for (; *model; model++) {
        if (*model == '[' || *model == ']') /* which a section's name can't hold */
            *model = '?';
    }
}

static size_t skip_blanks(const char *text, size_t from, size_t length)
{
    while (from < length && ascii_blank(text[from]))
        from++;
    return from;
}

static size_t trim(const char *text, size_t from, size_t length)
{
    while (length > from && ascii_blank(text[length - 1]))
        length--;
    return length;
}

/* [gpu NAME] with a name that means the model and no other. */
static bool is_own(const char *header, size_t length, const char *model)
{
    char name[MODEL_SIZE], section[MODEL_SIZE];
    const char *end = memchr(header, ']', length);
    size_t size = end ? (size_t)(end - header) : 0, at = skip_blanks(header, 1, size);

    if (size < at + 4 || size >= sizeof name || !ascii_starts(header + at, "gpu") ||
        !ascii_blank(header[at + 3]))
        return false;
    memcpy(name, header + at + 4, size - at - 4);
    name[size - at - 4] = '\0';
    ini_model(name, section);
    return *model && strcmp(section, model) == 0;
}

/* Where the value ends: before its comment, which a blank precedes. */
static size_t value_end(const char *text, size_t from, size_t length)
{
    for (size_t i = from; i < length; i++) {
        if ((text[i] == ';' || text[i] == '#') && (i == from || ascii_blank(text[i - 1])))
            return trim(text, from, i);
    }
    return trim(text, from, length);
}

static void read_key(struct ini_line *line, size_t from, size_t equals)
{
    size_t value = skip_blanks(line->text, equals + 1, line->length);

    line->kind = INI_KEY;
    line->name = line->text + from;
    line->name_length = trim(line->text, from, equals) - from;
    line->value = line->text + value;
    line->value_length = value_end(line->text, value, line->length) - value;
}

static void classify(struct ini_line *line, bool first)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t from = first && line->length >= 3 && memcmp(line->text, mark, 3) == 0 ? 3 : 0;
    const char *equals;

    from = skip_blanks(line->text, from, line->length);
    if (from == line->length)
        return;
    equals = memchr(line->text + from, '=', line->length - from);
    if (line->text[from] == '[') {
        line->kind = INI_SECTION;
        line->name = line->text + from;
        line->name_length = line->length - from;
    } else if (line->text[from] == ';' || line->text[from] == '#') {
        from = skip_blanks(line->text, from + 1, line->length);
        line->kind = INI_COMMENT;
        line->name = line->text + from;
        line->name_length = line->length - from;
    } else if (equals) {
        read_key(line, from, (size_t)(equals - line->text));
    }
}

static size_t count_lines(const char *text, size_t size)
{
    size_t count = size && text[size - 1] != '\n' ? 1 : 0;

    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n' ? 1 : 0;
    return count;
}

bool ini_lines_read(const char *text, size_t size, const char *model, struct ini_lines *lines)
{
    size_t count = count_lines(text, size), at = 0;
    bool own = false;

    *lines = (struct ini_lines){.items = calloc(count ? count : 1, sizeof *lines->items)};
    if (!lines->items)
        return false;
    for (; lines->count < count; lines->count++) {
        struct ini_line *line = &lines->items[lines->count];
        const char *end = memchr(text + at, '\n', size - at);

        line->text = text + at;
        line->whole = end ? (size_t)(end - line->text) + 1 : size - at;
        line->length = end ? line->whole - 1 : line->whole;
        if (line->length && line->text[line->length - 1] == '\r')
            line->length--;
        at += line->whole;
        classify(line, lines->count == 0);
        if (line->kind == INI_SECTION)
            own = is_own(line->name, line->name_length, model);
        line->own = own;
    }
    return true;
}

void ini_lines_free(struct ini_lines *lines)
{
    free(lines->items);
    *lines = (struct ini_lines){0};
}
