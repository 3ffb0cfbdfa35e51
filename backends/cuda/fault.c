/* What CUDA tells of a lost device: one code, for the whole context. */
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "status.h"

static const struct {
    CUresult result;
    const char *meaning;
} meanings[] = {
    {CUDA_ERROR_ECC_UNCORRECTABLE, "memory of the GPU is broken; see nvidia-smi -q -d ECC"},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, "the link to another GPU failed; see nvidia-smi nvlink -e"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "a launch read or wrote where no memory is"},
    {CUDA_ERROR_LAUNCH_TIMEOUT,
     "a launch ran longer than the system allows on a GPU with a screen"},
    {CUDA_ERROR_ASSERT, "an assert() in a kernel failed"},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, "a kernel's stack was corrupted or too small"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "a launch met an instruction that the GPU does not know"},
    {CUDA_ERROR_MISALIGNED_ADDRESS,
     "a launch used an address that is no multiple of the size of what it read or wrote there"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE,
     "a launch used an address in the wrong kind of memory (shared, local, global)"},
    {CUDA_ERROR_INVALID_PC, "a launch jumped to where no code is"},
    {CUDA_ERROR_LAUNCH_FAILED, "a launch failed, mostly by reading or writing where no memory is"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "other code of this process has destroyed the context"},
    {CUDA_ERROR_INVALID_CONTEXT, "other code of this process has destroyed the context"},
};

static const char *meaning_of(CUresult result)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (meanings[i].result == result)
            return meanings[i].meaning;
    return "the driver does not say what happened";
}

void device_fault(struct gantry_drv_device *device, char *text, size_t size)
{
    CUresult result = (CUresult)atomic_load(&device->lost);

    snprintf(text, size,
             "%s. CUDA's primary context is shared: whatever else uses %s through CUDA in this "
             "process has lost its memory and its work too. The device can be opened again when "
             "nothing in the process holds the context any more, where the driver gets over it. "
             "compute-sanitizer names the very instruction.",
             meaning_of(result), device->info.name);
}

/* Whether somebody in this process still holds the device's primary context. */
static bool is_held(struct gantry_drv_instance *instance, CUdevice ordinal)
{
    unsigned flags;
    int active = 0;

    return instance->cu.cuDevicePrimaryCtxGetState(ordinal, &flags, &active) == CUDA_SUCCESS &&
           active;
}

enum gantry_status fault_at_open(struct gantry_drv_instance *instance, CUdevice ordinal,
                                 const char *name, CUresult result)
{
    return FAIL(instance, GANTRY_E_DEVICE_LOST,
                "CUDA's primary context of %s was lost earlier (%s), and %s", name,
                driver_describe(instance, result).text,
                is_held(instance, ordinal)
                    ? "something in this process still holds it: it is shared, so close every "
                      "device of gantry on this GPU and whatever else uses CUDA there, or restart "
                      "the program"
                    : "the driver does not get over that within a process: restart the program");
}
