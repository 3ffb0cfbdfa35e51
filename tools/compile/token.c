#include "token.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    struct unit *unit;
    const char *at;
    const char *wrapper;
    struct place place;
};

static bool word_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static void add(struct reader *reader, enum token_kind kind, const char *text, size_t size)
{
    struct unit *unit = reader->unit;
    if (kind != TOKEN_END && reader->place.file && !strcmp(reader->place.file, reader->wrapper))
        return;
    unit->tokens = pool_grow(unit->pool, unit->tokens, unit->token_count, sizeof(*unit->tokens));
    unit->tokens[unit->token_count++] = (struct token){
        .kind = kind,
        .text = pool_copy(unit->pool, text, size),
        .place = reader->place,
    };
}

/* "#line 3 "file"": the line that follows it is number 3. Other directives mean nothing here. */
static const char *directive(struct reader *reader, const char *line)
{
    const char *end = strchrnul(line, '\n');
    if (strncmp(line, "#line ", 6) == 0) {
        char *rest;
        reader->place.line = (uint32_t)strtoul(line + 6, &rest, 10) - 1;
        const char *open = memchr(rest, '"', (size_t)(end - rest));
        const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
        if (close)
            reader->place.file =
                pool_copy(reader->unit->pool, open + 1, (size_t)(close - open - 1));
    }
    return end;
}

/* A preprocessing number: 1.5e-3f, 0x1f, 16x16. */
static size_t number_length(const char *text)
{
    size_t size = 1;
    while (word_letter(text[size]) || digit(text[size]) || text[size] == '.' ||
           ((text[size] == '+' || text[size] == '-') && strchr("eE", text[size - 1]) &&
            strncmp(text, "0x", 2) != 0 && strncmp(text, "0X", 2) != 0))
        size++;
    return size;
}

static size_t word_length(const char *text)
{
    size_t size = 1;
    while (word_letter(text[size]) || digit(text[size]))
        size++;
    return size;
}

static void read_token(struct reader *reader)
{
    const char *at = reader->at;
    enum token_kind kind = TOKEN_MARK;
    size_t size = 1;
    if (word_letter(*at)) {
        kind = TOKEN_WORD;
        size = word_length(at);
    } else if (digit(*at) || (*at == '.' && digit(at[1]))) {
        kind = TOKEN_NUMBER;
        size = number_length(at);
    }
    add(reader, kind, at, size);
    reader->at += size;
}

void tokenize(struct unit *unit, const char *text, const char *wrapper)
{
    struct reader reader = {.unit = unit, .at = text, .wrapper = wrapper, .place = {unit->path, 1}};
    bool line_start = true;
    while (*reader.at) {
        char c = *reader.at;
        if (c == '\n') {
            reader.place.line++;
            reader.at++;
            line_start = true;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            reader.at++;
        } else if (c == '#' && line_start) {
            reader.at = directive(&reader, reader.at);
        } else {
            line_start = false;
            read_token(&reader);
        }
    }
    add(&reader, TOKEN_END, "", 0);
}
