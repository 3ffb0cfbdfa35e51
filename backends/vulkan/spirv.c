#include "spirv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MAGIC = 0x07230203,
    HEADER_WORDS = 5,
    NEWEST_VERSION = 0x00010500, /* of Vulkan 1.2 */

    OP_ENTRY_POINT = 15,
    OP_CAPABILITY = 17,
    OP_FUNCTION = 54,

    MODEL_GL_COMPUTE = 5,
};

/* Capabilities that gantry can enable: SPIR-V's name and number, and whether this device has it,
 * with `p` the physical device and `f` its features. */
#define CAPABILITY_MAP(X)                                                                        \
    X(Matrix, 0, true)                                                                           \
    X(Shader, 1, true)                                                                           \
    X(Float16, 9, f->v12.shaderFloat16)                                                          \
    X(Float64, 10, f->core.features.shaderFloat64)                                               \
    X(Int64, 11, f->core.features.shaderInt64)                                                   \
    X(Int64Atomics, 12, f->v12.shaderBufferInt64Atomics)                                         \
    X(Int16, 22, f->core.features.shaderInt16)                                                   \
    X(Int8, 39, f->v12.shaderInt8)                                                               \
    X(ImageQuery, 50, true)                                                                      \
    X(GroupNonUniform, 61, p->subgroup &VK_SUBGROUP_FEATURE_BASIC_BIT)                           \
    X(GroupNonUniformVote, 62, p->subgroup &VK_SUBGROUP_FEATURE_VOTE_BIT)                        \
    X(GroupNonUniformArithmetic, 63, p->subgroup &VK_SUBGROUP_FEATURE_ARITHMETIC_BIT)            \
    X(GroupNonUniformBallot, 64, p->subgroup &VK_SUBGROUP_FEATURE_BALLOT_BIT)                    \
    X(GroupNonUniformShuffle, 65, p->subgroup &VK_SUBGROUP_FEATURE_SHUFFLE_BIT)                  \
    X(GroupNonUniformShuffleRelative, 66, p->subgroup &VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT) \
    X(GroupNonUniformClustered, 67, p->subgroup &VK_SUBGROUP_FEATURE_CLUSTERED_BIT)              \
    X(GroupNonUniformQuad, 68, p->subgroup &VK_SUBGROUP_FEATURE_QUAD_BIT)                        \
    X(StorageBuffer16BitAccess, 4433, f->v11.storageBuffer16BitAccess)                           \
    X(UniformAndStorageBuffer16BitAccess, 4434, f->v11.uniformAndStorageBuffer16BitAccess)       \
    X(StoragePushConstant16, 4435, f->v11.storagePushConstant16)                                 \
    X(StorageBuffer8BitAccess, 4448, f->v12.storageBuffer8BitAccess)                             \
    X(UniformAndStorageBuffer8BitAccess, 4449, f->v12.uniformAndStorageBuffer8BitAccess)         \
    X(StoragePushConstant8, 4450, f->v12.storagePushConstant8)                                   \
    X(VulkanMemoryModel, 5345, f->v12.vulkanMemoryModel)                                         \
    X(VulkanMemoryModelDeviceScope, 5346, f->v12.vulkanMemoryModelDeviceScope)                   \
    X(PhysicalStorageBufferAddresses, 5347, f->v12.bufferDeviceAddress)                          \
    X(AtomicFloat32AddEXT, 6033, f->atomic_float.shaderBufferFloat32AtomicAdd)

static bool check_capability(const struct physical *p, uint32_t capability, char *reason,
                             size_t size)
{
    const struct features *f = &p->features;
    const char *name = NULL;
    bool present = false;

    switch (capability) {
#define X(spirv_name, number, condition) \
    case number:                         \
        name = #spirv_name;              \
        present = condition;             \
        break;
        CAPABILITY_MAP(X)
#undef X
    }
    if (present)
        return true;
    if (name)
        snprintf(reason, size, "it needs the capability %s, which the device lacks", name);
    else
        snprintf(reason, size,
                 "it needs the SPIR-V capability %" PRIu32 ", which gantry does not enable",
                 capability);
    return false;
}

/* OpEntryPoint: execution model, function, name, interface. */
static bool is_main(const uint32_t *words, uint32_t length)
{
    static const char name[8] = "main"; /* two words, the second all zeros */

    return length >= 5 && words[1] == MODEL_GL_COMPUTE &&
           memcmp(&words[3], name, sizeof(name)) == 0;
}

bool spirv_check(const struct physical *physical, const void *data, size_t size, char *reason,
                 size_t reason_size)
{
    const uint32_t *words = data;
    size_t count = size / sizeof(*words);
    bool has_main = false;
    uint32_t length;

    if (size % sizeof(*words) != 0 || count < HEADER_WORDS || words[0] != MAGIC) {
        snprintf(reason, reason_size, "its %zu bytes are not a SPIR-V module", size);
        return false;
    }
    if (words[1] > NEWEST_VERSION) {
        snprintf(reason, reason_size, "it is SPIR-V %" PRIu32 ".%" PRIu32 ", Vulkan 1.2 takes 1.5",
                 words[1] >> 16 & 0xff, words[1] >> 8 & 0xff);
        return false;
    }
    /* Capabilities and entry points come before the first function. */
    for (size_t i = HEADER_WORDS; i < count; i += length) {
        uint32_t opcode = words[i] & 0xffff;
        length = words[i] >> 16;
        if (length == 0 || length > count - i) {
            snprintf(reason, reason_size, "it is cut or damaged at word %zu", i);
            return false;
        }
        if (opcode == OP_FUNCTION)
            break;
        if (opcode == OP_CAPABILITY && length == 2 &&
            !check_capability(physical, words[i + 1], reason, reason_size))
            return false;
        has_main |= opcode == OP_ENTRY_POINT && is_main(&words[i], length);
    }
    if (!has_main)
        snprintf(reason, reason_size, "it has no compute entry named main");
    return has_main;
}
