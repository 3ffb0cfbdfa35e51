#include "writes.h"

/* From the SPIR-V specification, under its names. */
enum {
    OpExtInst = 12,
    OpTypeVoid = 19,
    OpTypeBool = 20,
    OpTypePointer = 32,
    OpTypePipe = 38,
    OpConstantTrue = 41,
    OpConstant = 43,
    OpSpecConstantOp = 52,
    OpFunction = 54,
    OpFunctionCall = 57,
    OpVariable = 59,
    OpLoad = 61,
    OpStore = 62,
    OpCopyMemory = 63,
    OpCopyMemorySized = 64,
    OpAccessChain = 65,
    OpInBoundsAccessChain = 66,
    OpPtrAccessChain = 67,
    OpInBoundsPtrAccessChain = 70,
    OpVectorShuffle = 79,
    OpCompositeConstruct = 80,
    OpCompositeExtract = 81,
    OpCompositeInsert = 82,
    OpCopyObject = 83,
    OpAtomicLoad = 227,
    OpAtomicStore = 228,
    OpAtomicExchange = 229,
    OpAtomicXor = 242,
    OpCopyLogical = 400,
    OpAtomicFMinEXT = 5614,
    OpAtomicFMaxEXT = 5615,
    OpAtomicFAddEXT = 6035,

    StorageClassPushConstant = 9,
    StorageClassPhysicalStorageBuffer = 5349,

    HeaderWords = 5,
};

/* What an id, or the variable that it points to, holds of the pointer that is traced. */
enum holds {
    NOTHING,
    BLOCK,   /* the push constants, whose one member is: */
    ARGS,    /* the argument struct, or a copy; only one member of it is the pointer */
    POINTER, /* it, or what may have been computed from it */
};

struct trace {
    const uint32_t **definitions; /* the instruction of each id; NULL for none */
    enum holds *holds;            /* by id */
    uint32_t bound;
    uint32_t member; /* of the argument struct: the pointer */
    bool written;
    bool changed; /* in this round */
};

/* ---- Instructions --------------------------------------------------------------------------- */

static uint32_t opcode(const uint32_t *instruction)
{
    return instruction[0] & 0xffff;
}

static uint32_t length(const uint32_t *instruction)
{
    return instruction[0] >> 16;
}

static const uint32_t *definition(const struct trace *trace, uint32_t id)
{
    static const uint32_t nothing[8];
    return id < trace->bound && trace->definitions[id] ? trace->definitions[id] : nothing;
}

static bool is_type(const uint32_t *instruction)
{
    return opcode(instruction) >= OpTypeVoid && opcode(instruction) <= OpTypePipe;
}

/* Whether it makes a value, and so names a type and then its own id. */
static bool has_result(const struct trace *trace, const uint32_t *i)
{
    return length(i) >= 3 && !is_type(i) && is_type(definition(trace, i[1]));
}

static bool is_chain(uint32_t op)
{
    return op == OpAccessChain || op == OpInBoundsAccessChain || op == OpPtrAccessChain ||
           op == OpInBoundsPtrAccessChain;
}

/* An atomic that changes memory and has a result. */
static bool is_atomic(uint32_t op)
{
    return (op >= OpAtomicExchange && op <= OpAtomicXor) || op == OpAtomicFMinEXT ||
           op == OpAtomicFMaxEXT || op == OpAtomicFAddEXT;
}

/* Whether a value points to memory that arguments point to, and not to a variable. */
static bool is_global(const struct trace *trace, uint32_t pointer)
{
    const uint32_t *type = definition(trace, definition(trace, pointer)[1]);
    return opcode(type) == OpTypePointer && type[2] == StorageClassPhysicalStorageBuffer;
}

/* ---- What flows where ----------------------------------------------------------------------- */

static enum holds held(const struct trace *trace, uint32_t id)
{
    return id < trace->bound ? trace->holds[id] : NOTHING;
}

/* What is found in a later round adds to what was found before; two things at once are as bad as
 * the pointer. */
static void hold(struct trace *trace, uint32_t id, enum holds what)
{
    enum holds before = held(trace, id);
    if (id >= trace->bound || what == NOTHING || what == before || before == POINTER)
        return;
    trace->holds[id] = before == NOTHING ? what : POINTER;
    trace->changed = true;
}

/* What a part of something holds. */
static enum holds part(const struct trace *trace, enum holds whole, uint32_t member)
{
    switch (whole) {
    case BLOCK:
        return member == 0 ? ARGS : NOTHING;
    case ARGS:
        return member == trace->member ? POINTER : NOTHING;
    default:
        return whole;
    }
}

static enum holds follow_chain(const struct trace *trace, const uint32_t *i)
{
    enum holds holds = held(trace, i[3]);
    for (uint32_t word = 4; word < length(i); word++) {
        const uint32_t *index = definition(trace, i[word]);
        if (holds == BLOCK || holds == ARGS)
            holds = part(trace, holds, opcode(index) == OpConstant ? index[3] : trace->member);
        else if (held(trace, i[word]) != NOTHING)
            holds = POINTER;
    }
    return holds;
}

static enum holds follow_extract(const struct trace *trace, const uint32_t *i)
{
    enum holds holds = held(trace, i[3]);
    for (uint32_t word = 4; word < length(i); word++)
        holds = part(trace, holds, i[word]);
    return holds;
}

/* A struct of the arguments' members is a copy of the arguments. */
static enum holds follow_construct(const struct trace *trace, const uint32_t *i)
{
    enum holds holds = NOTHING;
    for (uint32_t word = 3; word < length(i); word++) {
        enum holds member = held(trace, i[word]);
        if (member != NOTHING)
            holds =
                member == POINTER && word - 3 == trace->member && holds == NOTHING ? ARGS : POINTER;
    }
    return holds;
}

/* Anything that is computed from the pointer may be an address near it, unless it is a bool. Words
 * that are numbers and not ids can only make this find too much. */
static enum holds follow_operands(const struct trace *trace, const uint32_t *i)
{
    uint32_t op = opcode(i), word = op == OpExtInst ? 5 : 3, end = length(i);
    if (opcode(definition(trace, i[1])) == OpTypeBool)
        return NOTHING;
    if ((op == OpVectorShuffle || op == OpCompositeInsert) && end > 5)
        end = 5;
    for (; word < end; word++)
        if (held(trace, i[word]) != NOTHING)
            return POINTER;
    return NOTHING;
}

static enum holds follow(const struct trace *trace, const uint32_t *i)
{
    uint32_t op = opcode(i);
    if ((op >= OpConstantTrue && op <= OpSpecConstantOp) || op == OpFunction || op == OpVariable ||
        op == OpAtomicLoad || is_atomic(op))
        return NOTHING;
    if (op == OpLoad) /* what the arguments point to is data */
        return is_global(trace, i[3]) ? NOTHING : held(trace, i[3]);
    if (op == OpCopyObject || op == OpCopyLogical)
        return held(trace, i[3]);
    if (is_chain(op))
        return follow_chain(trace, i);
    if (op == OpCompositeConstruct)
        return follow_construct(trace, i);
    return op == OpCompositeExtract ? follow_extract(trace, i) : follow_operands(trace, i);
}

/* ---- Writes --------------------------------------------------------------------------------- */

/* A pointer that is written to memory can come back from there unseen. */
static void store(struct trace *trace, uint32_t pointer, uint32_t value)
{
    if (is_global(trace, pointer)) {
        trace->written |= held(trace, pointer) != NOTHING || held(trace, value) != NOTHING;
        return;
    }
    if (!is_chain(opcode(definition(trace, pointer)))) {
        hold(trace, pointer, held(trace, value));
        return;
    }
    while (is_chain(opcode(definition(trace, pointer))))
        pointer = definition(trace, pointer)[3];
    hold(trace, pointer, held(trace, value) == NOTHING ? NOTHING : POINTER);
}

/* A function that was not inlined is not looked into, nor is a copy of memory. */
static void look_for_writes(struct trace *trace, const uint32_t *i)
{
    uint32_t op = opcode(i), first = op == OpFunctionCall ? 4 : 1;
    if (op == OpStore) {
        store(trace, i[1], i[2]);
    } else if (op == OpAtomicStore) {
        store(trace, i[1], i[4]);
    } else if (is_atomic(op)) {
        store(trace, i[3], i[length(i) - 1]);
    } else if (op == OpFunctionCall || op == OpCopyMemory || op == OpCopyMemorySized) {
        for (uint32_t word = first; word < length(i); word++)
            trace->written |= held(trace, i[word]) != NOTHING;
    }
}

static void read_definition(struct trace *trace, const uint32_t *i)
{
    uint32_t id = is_type(i) ? i[1] : has_result(trace, i) ? i[2] : trace->bound;
    if (id < trace->bound)
        trace->definitions[id] = i;
    if (opcode(i) == OpVariable && i[3] == StorageClassPushConstant)
        hold(trace, i[2], BLOCK);
}

/* Loops bring values back to what stands above, so it takes rounds. */
static bool is_written(struct trace *trace, const uint32_t *code, size_t words)
{
    for (size_t at = HeaderWords; at < words; at += code[at] >> 16)
        read_definition(trace, code + at);
    do {
        trace->changed = false;
        for (size_t at = HeaderWords; at < words; at += code[at] >> 16) {
            if (has_result(trace, code + at))
                hold(trace, code[at + 2], follow(trace, code + at));
            look_for_writes(trace, code + at);
        }
    } while (trace->changed && !trace->written);
    return trace->written;
}

void find_writes(struct pool *pool, const struct kernel *kernel, const uint32_t *code, size_t words)
{
    for (size_t i = 0; i < kernel->args->field_count; i++) {
        struct trace trace = {
            .definitions = pool_allocate(pool, code[3], sizeof(*trace.definitions)),
            .holds = pool_allocate(pool, code[3], sizeof(*trace.holds)),
            .bound = code[3],
            .member = (uint32_t)i,
        };
        if (kernel->args->fields[i].scalar == GANTRY_SCALAR_POINTER)
            kernel->pointers[i].written = is_written(&trace, code, words);
    }
}
