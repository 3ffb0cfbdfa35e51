#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "spirv.h"

/* ---- The report of refused images ----------------------------------------------------------- */

struct report {
    char text[1024];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void report_add(struct report *report,
                                                             const char *format, ...)
{
    size_t room = sizeof(report->text) - report->used;
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(report->text + report->used, room, format, list);
    va_end(list);
    if (n > 0)
        report->used += (size_t)n < room ? (size_t)n : room - 1;
}

/* " NAME" for each bit. */
static void add_features(struct report *report, uint32_t features)
{
#define X(name, bit, text)                \
    if (features & GANTRY_FEATURE_##name) \
        report_add(report, " %s", #name);
    GANTRY_FEATURE_MAP(X)
#undef X
}

/* "spirv 1.5", or "spirv 1.5 with ATOMIC_FLOAT_ADD" for a variant. */
static void describe_image(struct report *report, const struct gantry_backend_image *image)
{
    report_add(report, "spirv");
    if (image->isa_version > 0)
        report_add(report, " %" PRIu32 ".%" PRIu32, image->isa_version / 10,
                   image->isa_version % 10);
    if (image->features) {
        report_add(report, " with");
        add_features(report, image->features);
    }
}

/* ---- One image ------------------------------------------------------------------------------ */

static bool image_suits(const struct gantry_drv_device *device,
                        const struct gantry_backend_image *image, struct report *report)
{
    uint32_t missing = image->features & ~device->physical->info.features;
    char reason[128];

    if (missing) {
        report_add(report, "the device lacks");
        add_features(report, missing);
        return false;
    }
    if (!spirv_check(device->physical, image->data, image->size, reason, sizeof(reason))) {
        report_add(report, "%s", reason);
        return false;
    }
    return true;
}

static VkResult create_pipeline(struct gantry_drv_device *device,
                                const struct gantry_backend_image *image, struct gantry_size block,
                                struct gantry_drv_kernel *kernel)
{
    static const VkSpecializationMapEntry entries[] = {
        {0, offsetof(struct gantry_size, x), sizeof(uint32_t)},
        {1, offsetof(struct gantry_size, y), sizeof(uint32_t)},
        {2, offsetof(struct gantry_size, z), sizeof(uint32_t)},
    };
    VkSpecializationInfo constants = {3, entries, sizeof(block), &block};
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = image->size,
        .pCode = image->data,
    };
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = kernel->layout,
    };
    VkResult result;

    result = device->vk.vkCreateShaderModule(device->handle, &module, NULL, &pipeline.stage.module);
    if (result != VK_SUCCESS)
        return result;
    result = device->vk.vkCreateComputePipelines(device->handle, device->cache, 1, &pipeline, NULL,
                                                 &kernel->pipeline);
    device->vk.vkDestroyShaderModule(device->handle, pipeline.stage.module, NULL);
    return result;
}

/* ---- All images ----------------------------------------------------------------------------- */

static const char *const entry_names[] = {
    [GANTRY_ENTRY_DIRECT] = "direct",
    [GANTRY_ENTRY_FOLDED] = "folded",
    [GANTRY_ENTRY_CHAINED] = "chained",
};

static enum gantry_status no_image(struct gantry_drv_device *device,
                                   const struct gantry_backend_kernel_params *params,
                                   struct report *report)
{
    uint32_t foreign = 0;

    for (uint32_t i = 0; i < params->image_count; i++)
        foreign += params->images[i].kind != GANTRY_IMAGE_SPIRV;
    if (report->used == 0)
        report_add(report, "there is no SPIR-V image for it");
    if (foreign > 0)
        report_add(report, "; %" PRIu32 " images are for other backends", foreign);
    return device->services->fail(device->services->context, GANTRY_E_NO_IMAGE,
                                  "no image of kernel %s (%s entry) runs on the Vulkan device %s, "
                                  "driver %s: %s",
                                  params->source->name, entry_names[params->entry],
                                  device->physical->info.name,
                                  device->physical->info.driver_version, report->text);
}

static void refuse(const struct gantry_drv_device *device, const struct gantry_backend_image *image,
                   const char *why)
{
    if (device->services->refuse)
        device->services->refuse(device->services->context, image, "%s", why);
}

/* Makes the pipeline from the first image that works. A refusal moves on to the next image; running
 * out of memory and losing the device do not depend on the image and end the search. */
static enum gantry_status choose_image(struct gantry_drv_device *device,
                                       const struct gantry_backend_kernel_params *params,
                                       struct gantry_drv_kernel *kernel,
                                       const struct gantry_backend_image **chosen)
{
    struct report report = {0};

    for (uint32_t i = 0; i < params->image_count; i++) {
        const struct gantry_backend_image *image = &params->images[i];
        VkResult result;
        size_t start;

        if (image->kind != GANTRY_IMAGE_SPIRV || image->entry != params->entry)
            continue;
        report_add(&report, "%s", report.used ? "; " : "");
        describe_image(&report, image);
        report_add(&report, ": ");
        start = report.used;
        if (!image_suits(device, image, &report)) {
            refuse(device, image, report.text + start);
            continue;
        }
        result = create_pipeline(device, image, params->block, kernel);
        *chosen = image;
        if (result == VK_SUCCESS)
            return GANTRY_OK;
        if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
            result == VK_ERROR_DEVICE_LOST)
            return device_call_failed(device, result, "vkCreateComputePipelines");
        report_add(&report, "the driver refused it: %s", result_name(result));
        refuse(device, image, report.text + start);
    }
    return no_image(device, params, &report);
}

/* The arguments are push constants, of exactly their size: there are no descriptors. */
static enum gantry_status create_layout(struct gantry_drv_device *device,
                                        const struct gantry_backend_kernel_params *params,
                                        struct gantry_drv_kernel *kernel)
{
    bool direct = params->entry == GANTRY_ENTRY_DIRECT;
    size_t size = direct ? params->source->args_size : sizeof(struct gantry_fold_args);
    VkPushConstantRange range = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        .size = push_size((uint32_t)size),
    };
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = size > 0 ? 1 : 0,
        .pPushConstantRanges = &range,
    };
    enum gantry_status status = GANTRY_OK;

    VK(device, device->vk.vkCreatePipelineLayout(device->handle, &info, NULL, &kernel->layout));
fail:
    return status;
}

static void describe(const struct gantry_drv_device *device,
                     const struct gantry_backend_kernel_params *params,
                     const struct gantry_backend_image *image,
                     struct gantry_backend_kernel_info *info)
{
    struct gantry_size block = params->block;
    struct report name = {0};

    memset(info, 0, sizeof(*info));
    describe_image(&name, image);
    snprintf(info->image, sizeof(info->image), "%.63s", name.text);
    info->max_threads = device->physical->info.limits.max_threads_per_block;
    info->shared_bytes = params->source->shared_bytes +
                         params->source->shared_per_thread * block.x * block.y * block.z;
}

enum gantry_status kernel_create(struct gantry_drv_device *device,
                                 const struct gantry_backend_kernel_params *params,
                                 struct gantry_drv_kernel **kernel,
                                 struct gantry_backend_kernel_info *info)
{
    const struct gantry_backend_image *image = NULL;
    struct gantry_drv_kernel *made;
    enum gantry_status status;

    status = device_check(device);
    if (status != GANTRY_OK)
        return status;
    made = host_allocate(device->services, sizeof(*made), "a kernel");
    if (!made)
        return GANTRY_E_OUT_OF_HOST_MEMORY;
    status = create_layout(device, params, made);
    if (status == GANTRY_OK)
        status = choose_image(device, params, made, &image);
    if (status != GANTRY_OK) {
        kernel_destroy(device, made);
        return status;
    }
    device_name(device, VK_OBJECT_TYPE_PIPELINE, (uint64_t)made->pipeline, params->source->name);
    describe(device, params, image, info);
    *kernel = made;
    return GANTRY_OK;
}

void kernel_destroy(struct gantry_drv_device *device, struct gantry_drv_kernel *kernel)
{
    if (kernel->pipeline)
        device->vk.vkDestroyPipeline(device->handle, kernel->pipeline, NULL);
    if (kernel->layout)
        device->vk.vkDestroyPipelineLayout(device->handle, kernel->layout, NULL);
    device->services->release(device->services->context, kernel);
}
