/* Reading the values of keys. Numbers are read here and not by strtol and strtod, which take signs,
 * blanks, hexadecimal digits and, in some locales, a comma. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "ascii.h"
#include "match.h"

static bool refuse(char *why, enum option_id id, const char *what)
{
    char range[OPTION_RANGE_SIZE];

    option_range(id, range);
    snprintf(why, OPTION_WHY_SIZE, "%s: write %s", what, range);
    return false;
}

/* Digits up to the end or to a character of `ends`; false for anything else. Too large a number
 * becomes UINT64_MAX. *text moves behind the digits. */
static bool take_digits(const char **text, const char *ends, uint64_t *number)
{
    const char *c = *text;

    *number = 0;
    for (; ascii_digit(*c); c++) {
        uint64_t digit = (uint64_t)(*c - '0');

        *number = *number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *number * 10 + digit;
    }
    if (c == *text || (*c && !strchr(ends, *c)))
        return false;
    *text = c;
    return true;
}

static bool in_range(enum option_id id, uint64_t number)
{
    return number >= options[id].min && number <= options[id].max;
}

/* ---- A type each ---------------------------------------------------------------------------- */

static bool parse_switch(enum option_id id, const char *text, struct option_value *value, char *why)
{
    static const char *const on[] = {"on", "yes", "true", "1"};
    static const char *const off[] = {"off", "no", "false", "0"};

    for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
        if (ascii_same(text, on[i]) || ascii_same(text, off[i])) {
            value->on = ascii_same(text, on[i]);
            value->text = value->on ? "on" : "off";
            return true;
        }
    }
    return refuse(why, id, "is neither on nor off");
}

static bool parse_whole(enum option_id id, const char *text, struct option_value *value, char *why)
{
    uint64_t number;

    if (!take_digits(&text, "", &number))
        return refuse(why, id, "is no whole number in decimal digits");
    if (!in_range(id, number))
        return refuse(why, id, "is out of range");
    value->whole = (uint32_t)number;
    return true;
}

static bool parse_decimal(enum option_id id, const char *text, struct option_value *value,
                          char *why)
{
    const char *point;
    uint64_t whole, part = 0;

    if (!take_digits(&text, ".", &whole))
        return refuse(why, id, "is no number in decimal digits, with or without a point");
    point = text;
    if (*text == '.') {
        text++;
        if (!take_digits(&text, "", &part))
            return refuse(why, id, "is no number in decimal digits, with or without a point");
        if (text - point > 4)
            return refuse(why, id, "has more than three digits behind the point");
        for (int digits = (int)(text - point - 1); digits < 3; digits++)
            part *= 10;
    }
    if (whole > UINT32_MAX || !in_range(id, whole * 1000 + part))
        return refuse(why, id, "is out of range");
    value->decimal = (double)(whole * 1000 + part) / 1000.0;
    return true;
}

static bool parse_block(enum option_id id, const char *text, struct option_value *value, char *why)
{
    uint64_t axes[3] = {0, 0, 0}; /* what is not written is left to the kernel */
    bool more = true;

    for (int i = 0; i < 3 && more; i++) {
        if (!take_digits(&text, "xX", &axes[i]))
            return refuse(why, id, "is no size of a block");
        if (!in_range(id, axes[i]))
            return refuse(why, id, "is out of range");
        more = *text != '\0';
        text += more ? 1 : 0;
    }
    if (more)
        return refuse(why, id, "has more than three axes");
    value->block = (struct gantry_size){(uint32_t)axes[0], (uint32_t)axes[1], (uint32_t)axes[2]};
    return true;
}

/* The end of the word that a list continues with, and the start of the next one in *next, which is
 * NULL behind the last. Blanks around words are no part of them. */
static const char *next_name(const char *text, const char **next)
{
    const char *end = text + strcspn(text, ",");

    *next = *end ? end + 1 : NULL;
    while (end > text && ascii_blank(end[-1]))
        end--;
    return end;
}

static bool parse_names(enum option_id id, char *text, char *why)
{
    const char *name, *next, *other, *after;

    ascii_lower_all(text);
    for (name = text; name; name = next) {
        const char *end;

        name += strspn(name, " \t");
        end = next_name(name, &next);
        if (end == name)
            return refuse(why, id, "has an empty place in its list");
        for (const char *c = name; c < end; c++) {
            if (!ascii_word(*c))
                return refuse(why, id, "is no list of backends");
        }
        for (other = text; (other += strspn(other, " \t")) < name; other = after) {
            if (next_name(other, &after) - other == end - name &&
                strncmp(other, name, (size_t)(end - name)) == 0)
                return refuse(why, id, "names a backend twice");
        }
    }
    return true;
}

/* Whether the text is like "cuda:0". */
static bool is_backend_index(const char *text)
{
    const char *colon = text + strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    uint64_t index;

    if (*colon++ != ':' || selector_has_kind(text))
        return false;
    return take_digits(&colon, "", &index);
}

/* Whether there is a device of that index is the device list's business, but a sign in front of
 * digits never is an index, nor a name. */
static bool parse_device(enum option_id id, const char *text, char *why)
{
    const char *digits = text + 1;
    struct selector selector;
    char problem[OPTION_WHY_SIZE - 32];
    uint64_t index;

    if ((*text == '-' || *text == '+') && take_digits(&digits, "", &index))
        return refuse(why, id, "is no index of a device");
    if (is_backend_index(text) || selector_parse(text, &selector, problem, sizeof(problem)))
        return true;
    snprintf(why, OPTION_WHY_SIZE, "is no device: %s", problem);
    return false;
}

static bool parse_paths(enum option_id id, const char *text, char *why)
{
    while (*text) {
        size_t length = strcspn(text, ":");

        if (length == 0)
            return refuse(why, id, "has an empty place in its list");
        if (*text != '/')
            return refuse(why, id, "is not absolute");
        text += length;
        if (*text == ':' && *++text == '\0')
            return refuse(why, id, "has an empty place in its list");
    }
    return true;
}

/* ---- All ------------------------------------------------------------------------------------ */

static int find_word(const struct option *option, const char *text)
{
    for (int i = 0; option->words[i]; i++) {
        bool number = option->type == OPTION_LEVEL && text[0] == '0' + i && text[1] == '\0';

        if (number || ascii_same(text, option->words[i]))
            return i;
    }
    return -1;
}

bool option_parse(enum option_id id, char *text, struct option_value *value,
                  char why[OPTION_WHY_SIZE])
{
    const struct option *option = &options[id];

    *value = (struct option_value){.text = text, .word = find_word(option, text)};
    if (value->word >= 0) {
        /* The order of backends is read as a list, so its "auto" is written out. */
        value->text = option->type == OPTION_NAMES ? option->fallback : option->words[value->word];
        return true;
    }
    switch (option->type) {
    case OPTION_WORD:
    case OPTION_LEVEL:
        return refuse(why, id, "is not one of its words");
    case OPTION_SWITCH:
        return parse_switch(id, text, value, why);
    case OPTION_WHOLE:
        return parse_whole(id, text, value, why);
    case OPTION_DECIMAL:
        return parse_decimal(id, text, value, why);
    case OPTION_BLOCK:
        return parse_block(id, text, value, why);
    case OPTION_NAMES:
        return parse_names(id, text, why);
    case OPTION_SELECTOR:
        return parse_device(id, text, why);
    case OPTION_PATH:
        return text[0] == '/' || refuse(why, id, "is not absolute");
    case OPTION_PATHS:
        return parse_paths(id, text, why);
    }
    return false;
}

/* ---- Ranges as text ------------------------------------------------------------------------- */

static void thousandths(char *text, size_t size, uint32_t number)
{
    size_t length = (size_t)snprintf(text, size, "%u.%03u", number / 1000, number % 1000);

    while (text[length - 1] == '0')
        text[--length] = '\0';
    if (text[length - 1] == '.')
        text[length - 1] = '\0';
}

/* What may be written besides the words. */
static void type_range(const struct option *option, char *text, size_t size)
{
    char min[16], max[16];

    switch (option->type) {
    case OPTION_WORD:
    case OPTION_LEVEL:
        text[0] = '\0';
        break;
    case OPTION_SWITCH:
        snprintf(text, size, "on or off");
        break;
    case OPTION_WHOLE:
        snprintf(text, size, "%u to %u", option->min, option->max);
        break;
    case OPTION_DECIMAL:
        thousandths(min, sizeof(min), option->min);
        thousandths(max, sizeof(max), option->max);
        snprintf(text, size, "%s to %s", min, max);
        break;
    case OPTION_BLOCK:
        snprintf(text, size, "256, 16x16 or 8x8x4 with %u to %u along each axis", option->min,
                 option->max);
        break;
    case OPTION_NAMES:
        snprintf(text, size, "a list such as \"cuda, vulkan\"");
        break;
    case OPTION_SELECTOR:
        snprintf(text, size, "an index, cuda:0, a name or pattern, uuid:… or pci:…");
        break;
    case OPTION_PATH:
        snprintf(text, size, "an absolute path");
        break;
    case OPTION_PATHS:
        snprintf(text, size, "absolute paths with ':' between them");
        break;
    }
}

void option_range(enum option_id id, char text[OPTION_RANGE_SIZE])
{
    const struct option *option = &options[id];
    char rest[OPTION_RANGE_SIZE];
    size_t length = 0;

    type_range(option, rest, sizeof(rest));
    text[0] = '\0';
    for (int i = 0; option->words[i]; i++) {
        const char *between = i == 0 ? "" : option->words[i + 1] || rest[0] ? ", " : " or ";

        length += (size_t)snprintf(text + length, OPTION_RANGE_SIZE - length, "%s%s", between,
                                   option->words[i]);
    }
    snprintf(text + length, OPTION_RANGE_SIZE - length, "%s%s", length && rest[0] ? ", or " : "",
             rest);
}
