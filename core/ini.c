/* The lines of an INI text.
 *
 * inih takes the pairs of key and value apart. As distributions build it, it cuts section names at
 * 49 bytes and lines at 199, joins an indented line to the value above it, and tells of one bad
 * line only. So lines are checked here first, and inih gets each pair alone below a section that is
 * the pair's line number: nothing that it would cut, join or refuse. */
#include "ini.h"

#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascii.h"
#include "utf8.h"

struct reader {
    struct ini *ini;
    struct remarks *remarks;
    char *pairs; /* the text for inih */
    size_t pairs_length;
    uint32_t pair_count;
    uint32_t line;
    bool full; /* nothing more is read */
};

static void mistake(struct reader *reader, const char *what)
{
    remark(reader->remarks, REMARK_MISTAKE, reader->line, "%s", what);
}

/* A ';' or '#' at the start of a line or behind a blank begins a comment; elsewhere it is itself.
 */
static void cut_comment(char *text)
{
    for (char *c = text; *c; c++) {
        if ((*c == ';' || *c == '#') && (c == text || ascii_blank(c[-1]))) {
            *c = '\0';
            return;
        }
    }
}

/* Comments may hold anything. */
static bool check_characters(struct reader *reader, const char *text)
{
    if (!utf8_valid(text)) {
        mistake(reader, "a byte that is no UTF-8: save the file as UTF-8");
        return false;
    }
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' && *text != '\t') {
            mistake(reader, "a control character outside a comment");
            return false;
        }
    }
    return true;
}

/* ---- Sections ------------------------------------------------------------------------------- */

/* The name between the brackets, NULL when the line was refused. */
static const char *header_name(struct reader *reader, char *text)
{
    char *end = strchr(text, ']');
    char *rest;

    if (!end) {
        remark(reader->remarks, REMARK_MISTAKE, reader->line, "\"%.60s\" has no ']' at its end",
               text);
        return NULL;
    }
    *end = '\0';
    rest = ascii_trim(end + 1);
    if (*rest && *rest != ';' && *rest != '#') {
        remark(reader->remarks, REMARK_MISTAKE, reader->line,
               "\"%.60s\" stands behind the section's ']': only a comment may; a ']' in a name is "
               "written '?'",
               rest);
        return NULL;
    }
    return check_characters(reader, text) ? ascii_trim(text + 1) : NULL;
}

/* Whether there is room for one more; otherwise that is said. */
static bool check_room(struct reader *reader, uint32_t count, uint32_t most, const char *what)
{
    if (count < most)
        return true;
    remark(reader->remarks, REMARK_MISTAKE, reader->line,
           "a file has at most %u %s: nothing from this line on counts", most, what);
    reader->full = true;
    return false;
}

static void read_header(struct reader *reader, char *text)
{
    struct ini *ini = reader->ini;
    struct ini_section *sections;

    if (!check_room(reader, ini->section_count, INI_SECTIONS_MAX, "sections"))
        return;
    sections =
        arena_extend(reader->remarks->arena, ini->sections, ini->section_count, sizeof(*sections));
    if (!sections)
        return;
    ini->sections = sections;
    sections[ini->section_count++] =
        (struct ini_section){.line = reader->line, .name = header_name(reader, text)};
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

static bool check_name(struct reader *reader, const char *text, size_t length)
{
    if (length == 0) {
        mistake(reader, "no key in front of the '='");
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!ascii_word(text[i]) && text[i] != '.' && text[i] != '/') {
            remark(reader->remarks, REMARK_MISTAKE, reader->line,
                   "\"%.*s\" is no key: keys have letters, digits, '_', '-', '.' and '/'",
                   (int)(length < 60 ? length : 60), text);
            return false;
        }
    }
    return true;
}

static bool check_value(struct reader *reader, const char *text, const char *value)
{
    size_t length = strlen(value);

    if (length == 0) {
        remark(reader->remarks, REMARK_MISTAKE, reader->line,
               "\"%.60s\" has no value: leave the line out to keep the default", text);
        return false;
    }
    if (value[length - 1] == '\\') {
        mistake(reader, "a value ends with its line: it can't be continued by a '\\'");
        return false;
    }
    if (strlen(text) > INI_PAIR_MAX) {
        remark(reader->remarks, REMARK_MISTAKE, reader->line,
               "\"%.30s…\" has %zu bytes of key and value: at most %d are read", text, strlen(text),
               INI_PAIR_MAX);
        return false;
    }
    return true;
}

static void read_pair(struct reader *reader, char *text, bool indented)
{
    char *equals, *end;

    cut_comment(text);
    text = ascii_trim(text);
    equals = strchr(text, '=');
    if (!check_characters(reader, text))
        return;
    if (!equals) {
        remark(reader->remarks, REMARK_MISTAKE, reader->line, "\"%.60s\" is no \"key = value\"%s",
               text, indented ? ", and a value can't be continued on a second line" : "");
        return;
    }
    for (end = equals; end > text && ascii_blank(end[-1]); end--)
        ;
    if (!check_name(reader, text, (size_t)(end - text)) ||
        !check_value(reader, text, ascii_trim(equals + 1)) ||
        !check_room(reader, reader->pair_count, INI_KEYS_MAX, "keys"))
        return;
    reader->pair_count++;
    reader->pairs_length +=
        (size_t)sprintf(reader->pairs + reader->pairs_length, "[%u]\n%s\n", reader->line, text);
}

/* ---- The whole text ------------------------------------------------------------------------- */

/* `text` may be changed. */
static void read_line(struct reader *reader, char *text)
{
    size_t length = strlen(text);
    char *start = text;

    if (length > 0 && text[length - 1] == '\r')
        text[length - 1] = '\0';
    while (ascii_blank(*start))
        start++;
    if (strchr(text, '\r'))
        mistake(reader, "a carriage return inside the line: lines end in LF or CRLF");
    else if (*start == '[')
        read_header(reader, start);
    else if (*start && *start != ';' && *start != '#')
        read_pair(reader, start, start > text);
}

/* inih's handler: a pair, below the number of its line. */
static int take_pair(void *user, const char *section, const char *name, const char *value)
{
    struct reader *reader = user;
    struct arena *arena = reader->remarks->arena;
    struct ini *ini = reader->ini;
    struct ini_key *keys = arena_extend(arena, ini->keys, ini->key_count, sizeof(*keys));
    struct ini_key key = {
        .line = (uint32_t)strtoul(section, NULL, 10),
        .section = INI_NO_SECTION,
        .name = arena_copy(arena, name, strlen(name)),
        .value = arena_copy(arena, value, strlen(value)),
    };

    if (!keys || !key.name || !key.value)
        return 0;
    /* Pairs come in order, so the search goes on where the pair before ended. */
    if (ini->key_count)
        key.section = keys[ini->key_count - 1].section;
    while (key.section + 1 < ini->section_count && ini->sections[key.section + 1].line < key.line)
        key.section++;
    ini->keys = keys;
    keys[ini->key_count++] = key;
    return 1;
}

/* Whether it is text at all. */
static bool check_encoding(struct reader *reader, const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const char *nul = memchr(text, 0, size);

    if (size >= 2 &&
        ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] == 0xfe && bytes[1] == 0xff))) {
        mistake(reader, "this is UTF-16: save it as UTF-8");
        return false;
    }
    for (const char *c = text; nul && c < nul; c++)
        reader->line += *c == '\n';
    if (nul)
        mistake(reader, "a zero byte: this is no UTF-8 text, so nothing in it counts");
    return !nul;
}

void ini_read(struct ini *ini, const char *text, size_t size, struct remarks *remarks)
{
    static const char bom[3] = {'\xef', '\xbb', '\xbf'};
    struct reader reader = {.ini = ini, .remarks = remarks, .line = 1};
    size_t lines = 1;
    char *copy, *next;

    memset(ini, 0, sizeof(*ini));
    if (!check_encoding(&reader, text, size))
        return;
    if (size >= sizeof(bom) && memcmp(text, bom, sizeof(bom)) == 0) {
        text += sizeof(bom);
        size -= sizeof(bom);
    }
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    copy = arena_copy(remarks->arena, text, size);
    reader.pairs = arena_allocate(remarks->arena, size + lines * sizeof("[4294967295]\n\n"));
    if (!copy || !reader.pairs)
        return;

    for (; copy && !reader.full; copy = next, reader.line++) {
        next = strchr(copy, '\n');
        if (next)
            *next++ = '\0';
        read_line(&reader, copy);
    }
    ini_parse_string(reader.pairs, take_pair, &reader);
}
