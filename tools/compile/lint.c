#include "lint.h"

#include <stdlib.h>
#include <string.h>

#include "scan.h"
#include "words.h"

static bool is_hexadecimal(const char *number)
{
    return number[0] == '0' && (number[1] == 'x' || number[1] == 'X');
}

static bool is_floating(const char *number)
{
    return !is_hexadecimal(number) && strpbrk(number, ".eEfF") != NULL;
}

static void lint_floating(struct unit *unit, const struct token *token)
{
    const char *suffix = token->text + strspn(token->text, "0123456789.");
    if (*suffix == 'e' || *suffix == 'E') {
        suffix++;
        suffix += *suffix == '+' || *suffix == '-';
        suffix += strspn(suffix, "0123456789");
    }
    if (*suffix == 0)
        mistake(unit, token->place,
                "%s has no suffix: it is a float in GLSL and a double in CUDA: write %sf or %slf",
                token->text, token->text, token->text);
    else if (strcmp(suffix, "f") && strcmp(suffix, "F") && strcmp(suffix, "lf"))
        mistake(unit, token->place, "%s: the suffix of a float is f, that of a double lf",
                token->text);
}

static void lint_integer(struct unit *unit, const struct token *token)
{
    char *suffix;
    unsigned long long value = strtoull(token->text, &suffix, 0);
    if (*suffix == 0 && value > 0x7fffffffu)
        mistake(unit, token->place,
                "%s does not fit an int: GLSL wraps it, CUDA widens it: write %su or %sul",
                token->text, token->text, token->text);
    else if (strspn(suffix, "uUlL") != strlen(suffix) || strlen(suffix) > 2)
        mistake(unit, token->place, "%s: the suffix of an integer is u, l or ul", token->text);
}

/* A member that is made of x, y, z and w, and that no record has. */
static bool is_swizzle(const struct unit *unit, const char *word)
{
    size_t size = strlen(word);
    if (size < 2 || size > 4 || (strspn(word, "xyzw") != size && strspn(word, "rgba") != size))
        return false;
    for (size_t i = 0; i < unit->record_count; i++)
        for (size_t j = 0; j < unit->records[i]->field_count; j++)
            if (!strcmp(unit->records[i]->fields[j].name, word))
                return false;
    return true;
}

static bool is_grid_word(const struct token *token)
{
    static const char *const words[] = {"THREAD_ID", "BLOCK_ID", "BLOCK_SIZE", "BLOCK_COUNT",
                                        "GLOBAL_ID"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (token_is(token, words[i]))
            return true;
    return false;
}

static void lint_member(struct unit *unit, const struct token *word)
{
    if (is_swizzle(unit, word->text))
        mistake(unit, word->place, ".%s: CUDA has no swizzles: name the members one by one",
                word->text);
    if (!strcmp(word->text, "at_") || !strcmp(word->text, "ref_") || !strcmp(word->text, "base_"))
        mistake(
            unit, word->place,
            ".%s: a pointer's inside is kernel.h's own, and plain indexing is wrong past 4 GiB: "
            "use AT(p, i)",
            word->text);
}

static void lint_word(struct unit *unit, const struct token *tokens, size_t at)
{
    const struct token *word = &tokens[at];
    const char *advice = word_advice(word->text);
    if (at > 0 && token_is(&tokens[at - 1], "."))
        lint_member(unit, word);
    else if (advice)
        mistake(unit, word->place, "%s is no word of the kernel language: %s", word->text, advice);
    if (is_grid_word(word) && !token_is(&tokens[at + 1], "."))
        mistake(unit, word->place, "%s is used by its members: %s.x, %s.y or %s.z", word->text,
                word->text, word->text, word->text);
}

/* Tokens of a kernel's attributes are not the compilers'. */
static bool skip_attributes(const struct unit *unit, size_t *at)
{
    if (!token_is(&unit->tokens[*at], "KERNEL"))
        return false;
    size_t i = scan_behind(unit, *at + 1);
    while (unit->tokens[i].kind == TOKEN_WORD)
        i = token_is(&unit->tokens[i + 1], "(") ? scan_behind(unit, i + 1) : i + 1;
    *at = i - 1;
    return true;
}

static void lint_tokens(struct unit *unit)
{
    for (size_t at = 0; unit->tokens[at].kind != TOKEN_END; at++) {
        const struct token *token = &unit->tokens[at];
        if (skip_attributes(unit, &at))
            continue;
        if (token->kind == TOKEN_WORD)
            lint_word(unit, unit->tokens, at);
        else if (token->kind == TOKEN_NUMBER && is_floating(token->text))
            lint_floating(unit, token);
        else if (token->kind == TOKEN_NUMBER)
            lint_integer(unit, token);
    }
}

/* In CUDA these are parameters of the kernel's body. */
static void lint_function(struct unit *unit, const struct function *function)
{
    static const char *const words[] = {"BLOCK_ID", "BLOCK_COUNT", "GLOBAL_ID", "FOR_GRID"};
    for (size_t at = function->body.first; at < function->body.last; at++)
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if (token_is(&unit->tokens[at], words[i]))
                mistake(unit, unit->tokens[at].place,
                        "%s is a word of a kernel's body: pass what %s needs as a parameter",
                        words[i], function->name);
}

static void lint_kernel(struct unit *unit, const struct kernel *kernel)
{
    bool strides = false;
    size_t length = strlen(kernel->name);
    for (size_t at = kernel->body.first; at < kernel->body.last; at++) {
        const struct token *token = &unit->tokens[at];
        uint32_t axis = 0;
        strides = strides || token_is(token, "FOR_GRID") || token_is(token, "BLOCK_COUNT");
        if (is_grid_word(token) && token_is(&token[1], "."))
            axis = token_is(&token[2], "y") ? 2 : token_is(&token[2], "z") ? 3 : 1;
        if (axis > kernel->dimensions)
            mistake(unit, token->place,
                    "%s.%s in a kernel of %u dimension%s: add DIMENSIONS(%u), or axes to BLOCK",
                    token->text, token[2].text, kernel->dimensions,
                    kernel->dimensions == 1 ? "" : "s", axis);
    }
    if (kernel->grid_stride && !strides)
        mistake(
            unit, kernel->place,
            "%s is marked GRID_STRIDE but has no FOR_GRID and no loop over BLOCK_COUNT: on fewer "
            "blocks it would leave work out",
            kernel->name);
    if (length > 7 && !strcmp(kernel->name + length - 7, "_folded"))
        mistake(unit, kernel->place, "%s: names that end in _folded are those of folded entries",
                kernel->name);
    if (word_is_keyword(kernel->name))
        mistake(unit, kernel->place, "%s is a keyword of C or C++: choose another name",
                kernel->name);
}

void lint(struct unit *unit)
{
    lint_tokens(unit);
    for (size_t i = 0; i < unit->function_count; i++)
        lint_function(unit, &unit->functions[i]);
    for (size_t i = 0; i < unit->kernel_count; i++)
        lint_kernel(unit, unit->kernels[i]);
}
