#include "spirv.h"

#include <string.h>

/* From the SPIR-V specification, under its names. */
enum {
    OpString = 7,
    OpLine = 8,
    OpName = 5,
    OpCapability = 17,
    OpTypeBool = 20,
    OpTypeInt = 21,
    OpTypeFloat = 22,
    OpTypeVector = 23,
    OpTypeArray = 28,
    OpTypeStruct = 30,
    OpTypePointer = 32,
    OpConstant = 43,
    OpFunctionCall = 57,
    OpVariable = 59,
    OpLoad = 61,
    OpStore = 62,
    OpAccessChain = 65,
    OpInBoundsAccessChain = 66,
    OpSMod = 139,
    OpAtomicLoad = 227,
    OpAtomicStore = 228,
    OpAtomicXor = 242,

    StorageClassWorkgroup = 4,

    CapabilityFloat16 = 9,
    CapabilityFloat64 = 10,
    CapabilityInt64 = 11,
    CapabilityInt64Atomics = 12,
    CapabilityInt16 = 22,
    CapabilityInt8 = 39,
    CapabilityGroupNonUniformVote = 62,
    CapabilityGroupNonUniformArithmetic = 63,
    CapabilityGroupNonUniformBallot = 64,
    CapabilityGroupNonUniformShuffle = 65,
    CapabilityStorageBuffer16BitAccess = 4433,
    CapabilityStorageBuffer8BitAccess = 4448,
    CapabilityVulkanMemoryModel = 5345,
    CapabilityAtomicFloat32AddEXT = 6033,

    HeaderWords = 5,
};

/* The latest instruction that defines each id; NULL for none. */
struct module {
    struct unit *unit;
    struct kernel *kernel;
    const uint32_t **definitions;
    const char **names;
    bool *used; /* Workgroup variables that code refers to */
    uint32_t bound;
    struct place place;
};

static uint32_t opcode(const uint32_t *instruction)
{
    return instruction[0] & 0xffff;
}

static const uint32_t *definition(const struct module *module, uint32_t id)
{
    static const uint32_t nothing[8];
    return id < module->bound && module->definitions[id] ? module->definitions[id] : nothing;
}

static bool width_used(const struct module *module, uint32_t type_opcode, uint32_t width)
{
    for (uint32_t id = 0; id < module->bound; id++)
        if (opcode(definition(module, id)) == type_opcode && definition(module, id)[2] == width)
            return true;
    return false;
}

static uint32_t features_of(const struct module *module, uint32_t capability)
{
    switch (capability) {
    case CapabilityFloat16:
        return GANTRY_FEATURE_HALF;
    case CapabilityFloat64:
        return GANTRY_FEATURE_DOUBLE;
    case CapabilityInt64:
        return GANTRY_FEATURE_INT64;
    case CapabilityInt64Atomics:
        return GANTRY_FEATURE_ATOMIC_INT64;
    case CapabilityInt16:
        return GANTRY_FEATURE_INT16;
    case CapabilityInt8:
    case CapabilityStorageBuffer8BitAccess:
        return GANTRY_FEATURE_INT8;
    case CapabilityStorageBuffer16BitAccess:
        return (width_used(module, OpTypeInt, 16) ? GANTRY_FEATURE_INT16 : 0) |
               (width_used(module, OpTypeFloat, 16) ? GANTRY_FEATURE_HALF : 0);
    case CapabilityGroupNonUniformVote:
    case CapabilityGroupNonUniformBallot:
        return GANTRY_FEATURE_SUBGROUP_BALLOT;
    case CapabilityGroupNonUniformArithmetic:
        return GANTRY_FEATURE_SUBGROUP_ARITHMETIC;
    case CapabilityGroupNonUniformShuffle:
        return GANTRY_FEATURE_SUBGROUP_SHUFFLE;
    case CapabilityVulkanMemoryModel:
        return GANTRY_FEATURE_MEMORY_MODEL;
    case CapabilityAtomicFloat32AddEXT:
        module->kernel->float_atomics = true;
        return 0;
    default:
        return 0;
    }
}

/* ---- Shared memory
 * -------------------------------------------------------------------------------- */

static uint32_t constant(const struct module *module, uint32_t id)
{
    const uint32_t *c = definition(module, id);
    return opcode(c) == OpConstant ? c[3] : 0;
}

/* Bytes of a value; of an array whose length is chosen with the block's size those of one element.
 */
static uint64_t size_of(const struct module *module, uint32_t type)
{
    const uint32_t *t = definition(module, type);
    uint64_t size = 0;
    switch (opcode(t)) {
    case OpTypeBool:
        return 4;
    case OpTypeInt:
    case OpTypeFloat:
        return t[2] / 8;
    case OpTypePointer:
        return 8;
    case OpTypeVector:
        return t[3] * size_of(module, t[2]);
    case OpTypeArray:
        size = constant(module, t[3]);
        return (size ? size : 1) * size_of(module, t[2]);
    case OpTypeStruct:
        for (uint32_t i = 2; i < t[0] >> 16; i++)
            size += size_of(module, t[i]);
        return size;
    default:
        return 0;
    }
}

static void add_shared(const struct module *module)
{
    const char *block = module->unit->shared_block;
    uint64_t fixed = 0;
    for (uint32_t id = 0; id < module->bound; id++) {
        if (!module->used[id])
            continue;
        uint32_t type = definition(module, definition(module, id)[1])[3];
        uint64_t size = size_of(module, type);
        if (block && module->names[id] && !strcmp(module->names[id], block))
            module->kernel->shared_per_thread = (uint32_t)size;
        else
            fixed = (fixed + 15) / 16 * 16 + size;
    }
    if (fixed > UINT32_MAX)
        mistake(module->unit, module->kernel->place, "%s: shared memory of %llu bytes is too much",
                module->kernel->name, (unsigned long long)fixed);
    module->kernel->shared_bytes = (uint32_t)fixed;
}

static bool in_shared(const struct module *module, uint32_t pointer)
{
    const uint32_t *type = definition(module, definition(module, pointer)[1]);
    return opcode(type) == OpTypePointer && type[2] == StorageClassWorkgroup;
}

static void use(struct module *module, uint32_t pointer)
{
    if (pointer < module->bound && opcode(definition(module, pointer)) == OpVariable &&
        in_shared(module, pointer))
        module->used[pointer] = true;
}

/* ---- Code
 * ----------------------------------------------------------------------------------------- */

static bool is_atomic(uint32_t op)
{
    return (op >= OpAtomicLoad && op <= OpAtomicXor);
}

static void read_code(struct module *module, const uint32_t *i)
{
    uint32_t op = opcode(i);
    if (op == OpLine) {
        const uint32_t *file = definition(module, i[1]);
        if (opcode(file) == OpString)
            module->place = (struct place){(const char *)(file + 2), i[2]};
    } else if (op == OpSMod) {
        mistake(module->unit, module->place,
                "%% of signed numbers: the compilers differ for negative ones: write REM(a, b), or "
                "convert both to uint");
    } else if (op == OpLoad || op == OpAccessChain || op == OpInBoundsAccessChain) {
        use(module, i[3]);
    } else if (op == OpStore || op == OpAtomicStore) {
        use(module, i[1]);
    } else if (op == OpFunctionCall) {
        for (uint32_t word = 4; word < i[0] >> 16; word++)
            use(module, i[word]);
    } else if (is_atomic(op)) {
        use(module, i[3]);
        if (in_shared(module, i[3]) && size_of(module, i[1]) == 8)
            mistake(module->unit, module->place,
                    "a 64-bit atomic in shared memory: many devices have none: use global memory");
    }
}

/* Where an instruction puts the id that it defines; 0 when it defines none that matters here. */
static uint32_t result_word(uint32_t op)
{
    if (op == OpString || (op >= OpTypeBool && op <= OpTypePointer))
        return 1;
    return op == OpConstant || op == OpVariable || op == OpLoad || op == OpAccessChain ||
                   op == OpInBoundsAccessChain
               ? 2
               : 0;
}

static void read_declaration(struct module *module, const uint32_t *i)
{
    uint32_t word = result_word(opcode(i));
    if (word && i[word] < module->bound)
        module->definitions[i[word]] = i;
    if (opcode(i) == OpName && i[1] < module->bound)
        module->names[i[1]] = (const char *)(i + 2);
}

void spirv_read(struct unit *unit, struct kernel *kernel, const uint32_t *code, size_t words)
{
    uint32_t bound = code[3];
    struct module module = {
        .unit = unit,
        .kernel = kernel,
        .definitions = pool_allocate(unit->pool, bound, sizeof(*module.definitions)),
        .names = pool_allocate(unit->pool, bound, sizeof(*module.names)),
        .used = pool_allocate(unit->pool, bound, sizeof(*module.used)),
        .bound = bound,
        .place = kernel->place,
    };
    for (size_t at = HeaderWords; at < words; at += code[at] >> 16)
        read_declaration(&module, code + at);
    for (size_t at = HeaderWords; at < words; at += code[at] >> 16) {
        if (opcode(code + at) == OpCapability)
            kernel->features |= features_of(&module, code[at + 1]);
        read_code(&module, code + at);
    }
    add_shared(&module);
}
