#include "flow.h"

#include <string.h>

#include "scan.h"

/* What the functions so far are known to do. Functions stand above their callers in GLSL, so one
 * pass in the order of the file will do. */
struct flow {
    bool waits;        /* reaches a BARRIER or a subgroup operation */
    bool early_return; /* may return before one */
};

/* Words at which threads meet. A subgroup operation counts threads that have ended as absent, but
 * waits for those that are in the barrier between the steps of a chain. */
static bool is_meeting(const struct token *token)
{
    static const char *const words[] = {
        "BARRIER",          "SUBGROUP_ADD",         "SUBGROUP_MIN",       "SUBGROUP_MAX",
        "SUBGROUP_SHUFFLE", "SUBGROUP_SHUFFLE_XOR", "SUBGROUP_BROADCAST", "SUBGROUP_ANY",
        "SUBGROUP_ALL",     "SUBGROUP_BALLOT_COUNT"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (token_is(token, words[i]))
            return true;
    return false;
}

static const struct flow *called(const struct unit *unit, const struct flow *flows, size_t known,
                                 const struct token *token)
{
    if (token->kind != TOKEN_WORD || !token_is(&token[1], "("))
        return NULL;
    for (size_t i = known; i-- > 0;)
        if (token_is(token, unit->functions[i].name))
            return &flows[i];
    return NULL;
}

/* The index behind the statement that begins at `at`. */
static size_t behind_body(const struct unit *unit, size_t at)
{
    const struct token *token = &unit->tokens[at];
    if (token->kind == TOKEN_END)
        return at;
    if (token_is(token, "{"))
        return scan_behind(unit, at);
    if (token_is(token, "for") || token_is(token, "while") || token_is(token, "if") ||
        token_is(token, "FOR_GRID") || token_is(token, "switch")) {
        at = behind_body(unit, scan_behind(unit, at + 1));
        return token_is(&unit->tokens[at], "else") ? behind_body(unit, at + 1) : at;
    }
    if (token_is(token, "do") || token_is(token, "UNROLL"))
        return behind_body(unit, at + 1);
    while (unit->tokens[at].kind != TOKEN_END && !token_is(&unit->tokens[at], ";"))
        at = token_is(&unit->tokens[at], "(") ? scan_behind(unit, at) : at + 1;
    return unit->tokens[at].kind == TOKEN_END ? at : at + 1;
}

/* A loop's statements come round again: a return anywhere in it can precede a meeting anywhere in
 * it. */
static struct flow look(const struct unit *unit, const struct flow *flows, size_t known,
                        struct range body)
{
    struct flow found = {false, false};
    size_t last_meeting = 0, first_return = 0, loop_end = 0, loop_start = 0;
    bool return_in_loop = false, meeting_in_loop = false;
    for (size_t at = body.first; at < body.last; at++) {
        const struct token *token = &unit->tokens[at];
        const struct flow *inner = called(unit, flows, known, token);
        bool looping = at < loop_end;
        if (!looping && (token_is(token, "for") || token_is(token, "while") ||
                         token_is(token, "do") || token_is(token, "FOR_GRID"))) {
            loop_start = at;
            loop_end = behind_body(unit, at);
            return_in_loop = meeting_in_loop = false;
        }
        if (is_meeting(token) || (inner && inner->waits)) {
            last_meeting = at;
            meeting_in_loop = meeting_in_loop || (at >= loop_start && at < loop_end);
        }
        if (token_is(token, "return")) {
            first_return = first_return ? first_return : at;
            return_in_loop = return_in_loop || (at >= loop_start && at < loop_end);
        }
        found.waits = last_meeting != 0;
        found.early_return = found.early_return || (inner && inner->early_return) ||
                             (first_return && first_return < last_meeting) ||
                             (return_in_loop && meeting_in_loop);
    }
    return found;
}

void find_early_returns(struct unit *unit)
{
    struct flow *flows = pool_allocate(unit->pool, unit->function_count + 1, sizeof(*flows));
    for (size_t i = 0; i < unit->function_count; i++)
        flows[i] = look(unit, flows, i, unit->functions[i].body);
    for (size_t i = 0; i < unit->kernel_count; i++)
        unit->kernels[i]->early_return =
            look(unit, flows, unit->function_count, unit->kernels[i]->body).early_return;
}
