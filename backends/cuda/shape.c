#include "shape.h"

#include <string.h>

enum { BITS = 32, EDGE_BITS = 8 }; /* of a word; of an operation's number within a piece */

_Static_assert(SHAPE_OPS <= 1 << EDGE_BITS, "numbers of operations must fit");

/* ---- Cutting -------------------------------------------------------------------------------- */

static bool is_alone(const struct gantry_plan *plan, uint32_t op)
{
    uint32_t stage = plan->ops[op].stage;

    return (op == 0 || plan->ops[op - 1].stage != stage) &&
           (op + 1 == plan->op_count || plan->ops[op + 1].stage != stage);
}

static bool is_launch(const struct gantry_plan *plan, uint32_t op)
{
    return plan->ops[op].kind == GANTRY_OP_LAUNCH;
}

static bool is_node(const struct gantry_plan *plan, uint32_t op)
{
    return is_launch(plan, op) || plan->ops[op].kind == GANTRY_OP_JOIN;
}

static uint32_t chain_end(const struct gantry_plan *plan, uint32_t from)
{
    uint32_t end = from;

    while (end < plan->op_count && end - from < SHAPE_OPS && is_launch(plan, end) &&
           is_alone(plan, end))
        end++;
    return end;
}

/* Of what a piece can hold of the stage. */
static uint32_t stage_end(const struct gantry_plan *plan, uint32_t from)
{
    uint32_t end = from;

    while (end < plan->op_count && is_node(plan, end) &&
           plan->ops[end].stage == plan->ops[from].stage)
        end++;
    return end;
}

/* As many stages as fit, up to a chain; of the first one a part, if it is that large. */
static uint32_t wide_end(const struct gantry_plan *plan, uint32_t from)
{
    uint32_t end = stage_end(plan, from);

    if (end - from > SHAPE_OPS)
        return from + SHAPE_OPS;
    while (end < plan->op_count && is_node(plan, end) &&
           !(is_launch(plan, end) && is_alone(plan, end))) {
        uint32_t next = stage_end(plan, end);

        if (next - from > SHAPE_OPS)
            break;
        end = next;
    }
    while (!is_launch(plan, end - 1)) /* a join at a piece's end joins nothing */
        end--;
    return end;
}

enum cut_kind cut_measure(const struct cut *cut, uint32_t *length)
{
    const struct gantry_plan *plan = cut->plan;
    uint32_t end = chain_end(plan, cut->op);
    enum cut_kind kind = CUT_CHAIN;

    if (!is_launch(plan, cut->op)) {
        kind = CUT_OTHER;
        while (end < plan->op_count && !is_launch(plan, end))
            end++;
    } else if (end == cut->op) {
        kind = CUT_WIDE;
        end = wide_end(plan, cut->op);
    }
    *length = end - cut->op;
    return kind;
}

void cut_advance(struct cut *cut, uint32_t length)
{
    const struct gantry_plan *plan = cut->plan;

    cut->op += length;
    while (cut->edge < plan->edge_count && plan->edges[cut->edge].to < cut->op)
        cut->edge++;
}

/* ---- Shapes --------------------------------------------------------------------------------- */

static uint32_t mask_words(uint32_t op_count)
{
    return (op_count + BITS - 1) / BITS;
}

static void read_joins(const struct gantry_op *ops, struct shape *shape)
{
    shape->word_count = mask_words(shape->op_count);
    memset(shape->words, 0, shape->word_count * sizeof(*shape->words));
    for (uint32_t i = 0; i < shape->op_count; i++) {
        if (ops[i].kind == GANTRY_OP_JOIN)
            shape->words[i / BITS] |= 1u << i % BITS;
    }
}

/* FNV-1a, by words. */
static uint64_t hash_words(const struct shape *shape)
{
    uint64_t hash = 0xcbf29ce484222325u ^ shape->op_count;

    for (uint32_t i = 0; i < shape->word_count; i++)
        hash = (hash ^ shape->words[i]) * 0x100000001b3u;
    return hash;
}

bool shape_read(const struct cut *cut, uint32_t length, struct shape *shape)
{
    const struct gantry_plan *plan = cut->plan;
    uint32_t end = cut->op + length;

    shape->op_count = length;
    read_joins(plan->ops + cut->op, shape);
    for (uint32_t i = cut->edge; i < plan->edge_count && plan->edges[i].to < end; i++) {
        const struct gantry_edge *edge = &plan->edges[i];

        if (edge->from < cut->op)
            continue;
        if (shape->word_count == SHAPE_WORDS)
            return false;
        shape->words[shape->word_count++] = (edge->from - cut->op) << EDGE_BITS |
                                            (edge->to - cut->op) |
                                            (uint32_t)edge->programmatic << 2 * EDGE_BITS;
    }
    shape->hash = hash_words(shape);
    return true;
}

uint32_t shape_edge_count(const struct shape *shape)
{
    return shape->word_count - mask_words(shape->op_count);
}

void shape_edges(const struct shape *shape, struct gantry_edge *edges)
{
    const uint32_t *words = shape->words + mask_words(shape->op_count);
    uint32_t mask = (1u << EDGE_BITS) - 1;

    for (uint32_t i = 0; i < shape_edge_count(shape); i++)
        edges[i] = (struct gantry_edge){.from = words[i] >> EDGE_BITS & mask,
                                        .to = words[i] & mask,
                                        .programmatic = words[i] >> 2 * EDGE_BITS};
}
