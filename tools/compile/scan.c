#include "scan.h"

#include <stdlib.h>
#include <string.h>

size_t scan_behind(const struct unit *unit, size_t at)
{
    int depth = 0;
    for (; unit->tokens[at].kind != TOKEN_END; at++) {
        if (unit->tokens[at].kind != TOKEN_MARK)
            continue;
        if (strchr("([{", unit->tokens[at].text[0]))
            depth++;
        else if (strchr(")]}", unit->tokens[at].text[0]) && --depth == 0)
            return at + 1;
    }
    return at;
}

const char *scan_argument(struct unit *unit, size_t at, size_t *behind)
{
    if (!token_is(&unit->tokens[at], "(")) {
        const struct token *before = &unit->tokens[at - 1];
        mistake(unit, before->place, "%s needs arguments in parentheses", before->text);
        return NULL;
    }
    *behind = scan_behind(unit, at);
    struct text text = text_new(unit->pool);
    for (size_t i = at + 1; i + 1 < *behind; i++)
        text_add(&text, unit->tokens[i].text, strlen(unit->tokens[i].text));
    return text.data;
}

bool scan_number(struct unit *unit, struct place place, const char *what, const char *text,
                 uint32_t most, uint32_t *number)
{
    char *end = NULL;
    unsigned long value = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    if (end && *end == 0 && value >= 1 && value <= most) {
        *number = (uint32_t)value;
        return true;
    }
    mistake(unit, place, "%s(%s): a whole number from 1 to %u is needed", what, text, most);
    return false;
}

/* Splits "a,b,c" into at most `count` texts; true when there are just so many, none empty. */
static bool split(struct pool *pool, const char *text, const char **parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t size = strcspn(text, ",");
        parts[i] = pool_copy(pool, text, size);
        if (size == 0 || (text[size] == ',') != (i + 1 < count))
            return false;
        text += size + 1;
    }
    return true;
}

static size_t behind_statement(const struct unit *unit, size_t at)
{
    while (unit->tokens[at].kind != TOKEN_END && !token_is(&unit->tokens[at], ";"))
        at = strchr("([{", unit->tokens[at].text[0]) && unit->tokens[at].kind == TOKEN_MARK
                 ? scan_behind(unit, at)
                 : at + 1;
    return unit->tokens[at].kind == TOKEN_END ? at : at + 1;
}

static size_t scan_record(struct unit *unit, size_t at)
{
    const struct token *word = &unit->tokens[at];
    const char *name = scan_argument(unit, at + 1, &at);
    if (!name || !token_is(&unit->tokens[at], "{")) {
        mistake(unit, word->place, "%s(name) must be followed by { members };", word->text);
        return behind_statement(unit, at);
    }
    struct record *known = unit_record(unit, name);
    if (known)
        mistake(unit, word->place, "%s was defined before, at %s:%u", name, known->place.file,
                known->place.line);
    struct record *record = pool_allocate(unit->pool, 1, sizeof(*record));
    record->place = word->place;
    record->name = name;
    record->is_args = token_is(word, "ARGS");
    unit->records =
        pool_grow(unit->pool, unit->records, unit->record_count, sizeof(*unit->records));
    unit->records[unit->record_count++] = record;
    return behind_statement(unit, scan_fields(unit, record, at + 1));
}

static size_t scan_pointee(struct unit *unit, size_t at)
{
    struct place place = unit->tokens[at].place;
    const char *text = scan_argument(unit, at + 1, &at);
    const char *parts[3];
    if (!text || !split(unit->pool, text, parts, 3)) {
        mistake(unit, place, "write POINTEE(struct, size in bytes, alignment in bytes);");
        return behind_statement(unit, at);
    }
    struct record *record = unit_record(unit, parts[0]);
    if (!record || record->is_args)
        mistake(unit, place, "POINTEE(%s, …): there is no STRUCT(%s) above", parts[0], parts[0]);
    else if (scan_number(unit, place, "the size in POINTEE", parts[1], 1 << 20, &record->size) &&
             scan_number(unit, place, "the alignment in POINTEE", parts[2], 16, &record->align))
        record->pointee = true;
    return behind_statement(unit, at);
}

static struct pointer *new_pointers(struct pool *pool, size_t count)
{
    struct pointer *pointers = pool_allocate(pool, count, sizeof(*pointers));
    for (size_t i = 0; i < count; i++)
        pointers[i].written = true;
    return pointers;
}

static size_t scan_kernel(struct unit *unit, size_t at)
{
    struct place place = unit->tokens[at].place;
    const char *text = scan_argument(unit, at + 1, &at);
    const char *parts[2];
    if (!text || !split(unit->pool, text, parts, 2)) {
        mistake(unit, place, "write KERNEL(name, argument struct) attributes { … }");
        return behind_statement(unit, at);
    }
    struct kernel *kernel = pool_allocate(unit->pool, 1, sizeof(*kernel));
    kernel->place = place;
    kernel->name = parts[0];
    kernel->args = unit_record(unit, parts[1]);
    if (!kernel->args || !kernel->args->is_args)
        mistake(unit, place, "KERNEL(%s, %s): there is no ARGS(%s) above", parts[0], parts[1],
                parts[1]);
    else
        kernel->pointers = new_pointers(unit->pool, kernel->args->field_count);
    for (size_t i = 0; i < unit->kernel_count; i++)
        if (!strcmp(unit->kernels[i]->name, kernel->name))
            mistake(unit, place, "kernel %s was defined before, at %s:%u", kernel->name,
                    unit->kernels[i]->place.file, unit->kernels[i]->place.line);
    at = scan_attributes(unit, kernel, at);
    if (!token_is(&unit->tokens[at], "{")) {
        mistake(unit, place, "KERNEL(%s, %s) has no body", parts[0], parts[1]);
        return behind_statement(unit, at);
    }
    size_t behind = scan_behind(unit, at);
    kernel->body = (struct range){at + 1, behind - 1};
    unit->kernels =
        pool_grow(unit->pool, unit->kernels, unit->kernel_count, sizeof(*unit->kernels));
    unit->kernels[unit->kernel_count++] = kernel;
    return behind;
}

/* FN type name(parameters) { … } or, declared only, FN type name(parameters); */
static size_t scan_function(struct unit *unit, size_t at)
{
    struct place place = unit->tokens[at].place;
    const char *name = "";
    at++;
    if (token_is(&unit->tokens[at], "PTR"))
        at = scan_behind(unit, at + 1);
    for (; unit->tokens[at].kind == TOKEN_WORD; at++)
        name = unit->tokens[at].text;
    if (!token_is(&unit->tokens[at], "(")) {
        mistake(unit, place, "write FN type name(parameters) { … }");
        return behind_statement(unit, at);
    }
    at = scan_behind(unit, at);
    if (!token_is(&unit->tokens[at], "{"))
        return behind_statement(unit, at);
    size_t behind = scan_behind(unit, at);
    unit->functions =
        pool_grow(unit->pool, unit->functions, unit->function_count, sizeof(*unit->functions));
    unit->functions[unit->function_count++] = (struct function){name, {at + 1, behind - 1}};
    return behind;
}

static size_t scan_shared_block(struct unit *unit, size_t at)
{
    struct place place = unit->tokens[at].place;
    const char *text = scan_argument(unit, at + 1, &at);
    const char *parts[2];
    if (!text || !split(unit->pool, text, parts, 2))
        mistake(unit, place, "write SHARED_BLOCK(type, name);");
    else if (unit->shared_block)
        mistake(unit, place,
                "a second SHARED_BLOCK: a file has one, because CUDA gives a block one such array; "
                "the first, %s, is at %s:%u",
                unit->shared_block, unit->shared_block_place.file, unit->shared_block_place.line);
    else
        unit->shared_block = parts[1];
    unit->shared_block_place = place;
    return behind_statement(unit, at);
}

static size_t scan_constant(struct unit *unit, size_t at)
{
    struct place place = unit->tokens[at].place;
    size_t behind = behind_statement(unit, at);
    for (size_t i = at; i < behind && !token_is(&unit->tokens[i], "="); i++)
        if (token_is(&unit->tokens[i], "[")) {
            mistake(unit, place,
                    "a constant array at file scope can't be read by CUDA kernels: write "
                    "TABLE(type, name, count) = { … };");
            break;
        }
    return behind;
}

/* Nothing is to be known of SHARED and TABLE: the compilers check them. */
static size_t behind_plain(struct unit *unit, size_t at)
{
    return behind_statement(unit, at);
}

static size_t scan_other(struct unit *unit, size_t at)
{
    const struct token *token = &unit->tokens[at];
    if (token_is(token, "struct"))
        mistake(unit, token->place, "write STRUCT(name) { … }; instead of struct");
    else
        mistake(unit, token->place,
                "\"%s\" can't begin a declaration here: a function begins with FN, a variable with "
                "SHARED, SHARED_BLOCK, TABLE or const",
                token->text);
    /* Up to the end of a statement or of a body, so that one mistake is one message. */
    for (; unit->tokens[at].kind != TOKEN_END; at++) {
        if (token_is(&unit->tokens[at], ";"))
            return at + 1;
        if (token_is(&unit->tokens[at], "{"))
            return scan_behind(unit, at);
    }
    return at;
}

static char partner(char open)
{
    return open == '(' ? ')' : open == '[' ? ']' : '}';
}

/* Every bracket must have its partner, or the compilers would complain about something else. */
static bool brackets_match(struct unit *unit)
{
    const struct token **open = pool_allocate(unit->pool, unit->token_count, sizeof(*open));
    size_t depth = 0;
    for (const struct token *token = unit->tokens; token->kind != TOKEN_END; token++) {
        if (token->kind != TOKEN_MARK)
            continue;
        if (strchr("([{", token->text[0])) {
            open[depth++] = token;
        } else if (strchr(")]}", token->text[0])) {
            if (depth == 0 || partner(open[depth - 1]->text[0]) != token->text[0]) {
                mistake(unit, token->place, "\"%s\" closes nothing that was opened before it",
                        token->text);
                return false;
            }
            depth--;
        }
    }
    if (depth > 0)
        mistake(unit, open[depth - 1]->place, "\"%s\" is never closed", open[depth - 1]->text);
    return depth == 0;
}

void scan(struct unit *unit)
{
    static const struct {
        const char *word;
        size_t (*read)(struct unit *unit, size_t at);
    } declarations[] = {
        {"ARGS", scan_record},
        {"STRUCT", scan_record},
        {"POINTEE", scan_pointee},
        {"KERNEL", scan_kernel},
        {"FN", scan_function},
        {"SHARED", behind_plain},
        {"SHARED_BLOCK", scan_shared_block},
        {"TABLE", behind_plain},
        {"const", scan_constant},
    };
    size_t at = 0;
    if (!brackets_match(unit))
        return;
    while (unit->tokens[at].kind != TOKEN_END) {
        size_t (*read)(struct unit *, size_t) = scan_other;
        for (size_t i = 0; i < sizeof(declarations) / sizeof(declarations[0]); i++)
            if (token_is(&unit->tokens[at], declarations[i].word))
                read = declarations[i].read;
        at = token_is(&unit->tokens[at], ";") ? at + 1 : read(unit, at);
    }
    if (unit->kernel_count == 0 && unit->mistakes == 0)
        mistake(unit, (struct place){unit->path, 1}, "the file defines no KERNEL");
}
