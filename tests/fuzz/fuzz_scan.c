/* Fuzz target: what `glslc -E` may make of a .gk file, cut into tokens, scanned and linted. */
#include "fuzz.h"

#include <string.h>

#include "tools/compile/flow.h"
#include "tools/compile/lint.h"
#include "tools/compile/scan.h"
#include "tools/compile/token.h"

static const char wrapper[] = "wrapper.comp";

static struct unit read_unit(struct pool *pool, const char *text)
{
    struct unit unit = {.pool = pool, .path = "f.gk", .name = "f"};

    tokenize(&unit, text, wrapper);
    scan(&unit);
    return unit;
}

static void check_tokens(const struct unit *unit, size_t size)
{
    HOLDS(unit->token_count >= 1 && unit->token_count <= size + 1);
    for (size_t i = 0; i < unit->token_count; i++) {
        const struct token *token = &unit->tokens[i];

        HOLDS((token->kind == TOKEN_END) == (i + 1 == unit->token_count));
        HOLDS(token->kind == TOKEN_END || token->text[0]);
        HOLDS(token->kind == TOKEN_END || strcmp(token->place.file, wrapper) != 0);
        HOLDS(token->kind != TOKEN_MARK || strlen(token->text) == 1);
    }
}

static void check_range(const struct unit *unit, struct range range)
{
    HOLDS(range.first <= range.last && range.last < unit->token_count);
}

static void check_record(const struct record *record)
{
    HOLDS(record->field_count > 0);
    for (size_t i = 0; i < record->field_count; i++) {
        const struct field *field = &record->fields[i];

        HOLDS(field->name[0] && field->type[0] && field->pointee);
        for (size_t other = 0; other < i; other++)
            HOLDS(strcmp(field->name, record->fields[other].name) != 0);
    }
}

static void check_kernel(const struct unit *unit, const struct kernel *kernel)
{
    uint64_t threads = (uint64_t)kernel->block[0] * kernel->block[1] * kernel->block[2];

    HOLDS(kernel->name[0] && kernel->args && kernel->args->is_args && kernel->pointers);
    HOLDS(kernel->dimensions >= 1 && kernel->dimensions <= 3);
    HOLDS(threads <= 1024 && kernel->block_max <= 1024 && kernel->block_multiple <= 1024);
    HOLDS(!threads || !kernel->block_multiple || threads % kernel->block_multiple == 0);
    HOLDS(kernel->tolerance >= 0 && kernel->tolerance <= 1);
    check_range(unit, kernel->body);
    for (size_t i = 0; i < kernel->args->field_count; i++) {
        const struct pointer *pointer = &kernel->pointers[i];

        HOLDS(pointer->reach_count <= MAX_FACTORS);
        for (uint32_t f = 0; f < pointer->reach_count; f++)
            HOLDS(pointer->reach[f].field >= 0
                      ? (size_t)pointer->reach[f].field < kernel->args->field_count
                      : pointer->reach[f].number > 0);
    }
}

/* What the rest of the compiler may rely on. */
static void check_unit(struct unit *unit)
{
    HOLDS(unit->kernel_count > 0);
    for (size_t i = 0; i < unit->record_count; i++)
        check_record(unit->records[i]);
    for (size_t i = 0; i < unit->kernel_count; i++)
        check_kernel(unit, unit->kernels[i]);
    for (size_t i = 0; i < unit->function_count; i++)
        check_range(unit, unit->functions[i].body);
    lint(unit);
    if (unit->mistakes == 0)
        find_early_returns(unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pool pool = {0}, again = {0};
    char *text = calloc(1, size + 1);
    struct unit unit, same;

    HOLDS(text);
    be_quiet();
    memcpy(text, data, size);
    unit = read_unit(&pool, text);
    check_tokens(&unit, size);
    same = read_unit(&again, text);
    HOLDS(unit.mistakes == same.mistakes && unit.token_count == same.token_count);
    if (unit.mistakes == 0)
        check_unit(&unit);
    pool_free(&again);
    pool_free(&pool);
    free(text);
    return 0;
}
