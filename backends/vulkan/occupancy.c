#include <stdio.h>
#include <stdlib.h>

#include "driver.h"

/* ---- Compute units -------------------------------------------------------------------------- */

/* Vulkan itself does not tell them; extensions of some vendors do. */
struct units {
    VkPhysicalDeviceProperties2 core;
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv;
    VkPhysicalDeviceShaderCorePropertiesAMD amd;
    VkPhysicalDeviceShaderCoreProperties2AMD amd2;
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm;
};

static void query(const struct physical *physical, struct units *u)
{
    const struct extensions *has = &physical->has;

    u->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    u->nv.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV;
    u->amd.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD;
    u->amd2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD;
    u->arm.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM;
    if (has->nv_sm_builtins)
        link_struct(&u->core, &u->nv);
    if (has->amd_core_properties)
        link_struct(&u->core, &u->amd);
    if (has->amd_core_properties2)
        link_struct(&u->core, &u->amd2);
    if (has->arm_core_builtins)
        link_struct(&u->core, &u->arm);
    vkGetPhysicalDeviceProperties2(physical->handle, &u->core);
}

/* Returns the extension that told them, NULL for none. */
static const char *fill_units(const struct extensions *has, const struct units *u,
                              struct gantry_limits *limits)
{
    if (has->nv_sm_builtins) {
        limits->compute_units = u->nv.shaderSMCount;
        limits->threads_per_unit = u->nv.shaderWarpsPerSM * limits->subgroup_size;
        return VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME;
    }
    if (has->arm_core_builtins) {
        limits->compute_units = u->arm.shaderCoreCount;
        limits->threads_per_unit = u->arm.shaderWarpsPerCore * limits->subgroup_size;
        return VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME;
    }
    if (!has->amd_core_properties)
        return NULL;
    limits->threads_per_unit =
        u->amd.simdPerComputeUnit * u->amd.wavefrontsPerSimd * u->amd.wavefrontSize;
    if (has->amd_core_properties2) { /* without those that are switched off */
        limits->compute_units = u->amd2.activeComputeUnitCount;
        return VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME;
    }
    limits->compute_units = u->amd.shaderEngineCount * u->amd.shaderArraysPerEngineCount *
                            u->amd.computeUnitsPerShaderArray;
    return VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME;
}

void occupancy_probe(struct physical *physical)
{
    struct gantry_backend_device_info *info = &physical->info;
    struct units units = {0};
    const char *extension;

    query(physical, &units);
    extension = fill_units(&physical->has, &units, &info->limits);
    if (extension)
        snprintf(info->occupancy_source, sizeof(info->occupancy_source),
                 "compute units from %s, block sizes from its threads per unit", extension);
    else
        snprintf(info->occupancy_source, sizeof(info->occupancy_source),
                 "the driver tells no compute units, block sizes are from its limits");
}

/* ---- Block sizes ---------------------------------------------------------------------------- */

enum { USUAL_BLOCK = 256 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool is_nearer(uint32_t threads, uint32_t best)
{
    return abs((int)threads - USUAL_BLOCK) < abs((int)best - USUAL_BLOCK);
}

/* Whole subgroups that leave no part of a compute unit empty and whose shared memory is there; of
 * those, the size nearest to the usual one. Vulkan does not tell a kernel's registers. */
enum gantry_status kernel_block(struct gantry_drv_device *device,
                                const struct gantry_backend_kernel_params *params,
                                uint32_t *threads)
{
    const struct gantry_limits *limits = &device->physical->info.limits;
    const struct gantry_kernel_source *source = params->source;
    uint32_t most = least(limits->max_threads_per_block, limits->max_block.x);
    uint32_t unit = limits->threads_per_unit ? limits->threads_per_unit : most;
    uint32_t step = least(limits->subgroup_max ? limits->subgroup_max : 1, most);
    uint32_t best = step, best_resident = 0;

    for (uint32_t i = step; i <= most; i += step) {
        uint64_t shared = source->shared_bytes + (uint64_t)source->shared_per_thread * i;
        uint32_t resident = unit / i * i;
        if (shared > limits->max_shared_bytes)
            break;
        if (resident > best_resident || (resident == best_resident && is_nearer(i, best))) {
            best = i;
            best_resident = resident;
        }
    }
    *threads = best;
    return GANTRY_OK;
}
