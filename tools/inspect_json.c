/* gantry inspect for programs. */
#include <inttypes.h>
#include <stdio.h>

#include "inspect.h"
#include "output.h"

/* Each factor is the name of a member or a number; null when the kernel does not state its reach.
 */
static json_t *describe_reach(const struct gantry_kernel_source *source,
                              const struct gantry_field_info *field)
{
    json_t *factors = field->reach_count ? json_array() : json_null();

    for (uint32_t i = 0; i < field->reach_count; i++) {
        int32_t member = field->reach[i].field;

        factors =
            json_list_add(factors, member < 0 ? json_integer((json_int_t)field->reach[i].number)
                                              : json_string(source->fields[member].name));
    }
    return factors;
}

static json_t *describe_field(const struct gantry_kernel_source *source,
                              const struct gantry_field_info *field)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:s?, s:I, s:b, s:b, s:o}", "name", field->name,
                     "type", gantry_scalar_name(field->type), "offset", (json_int_t)field->offset,
                     "size", (json_int_t)field->size, "count", (json_int_t)field->count, "pointee",
                     field->type == GANTRY_SCALAR_POINTER ? field->pointee : NULL, "pointee_size",
                     (json_int_t)field->pointee_size, "written", field->written, "may_be_null",
                     field->may_be_null, "reach", describe_reach(source, field));
}

static json_t *describe_args(const struct gantry_kernel_source *source)
{
    json_t *fields = json_array();
    char hash[17];

    for (uint32_t i = 0; i < source->field_count; i++)
        fields = json_list_add(fields, describe_field(source, &source->fields[i]));
    /* As text: a 64-bit number does not survive in every reader of JSON. */
    snprintf(hash, sizeof hash, "%016" PRIx64, source->layout_hash);
    return json_pack("{s:s, s:I, s:s, s:o}", "name", source->args_name, "size",
                     (json_int_t)source->args_size, "layout_hash", hash, "fields", fields);
}

static json_t *describe_trial(const struct trial *trial)
{
    const struct gantry_kernel_info *info = &trial->info;

    if (trial->failure)
        return json_pack("{s:s}", "failure", trial->failure);
    return json_pack("{s:n, s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:s?}", "failure", "image",
                     info->image, "block", json_size(info->block), "block_origin",
                     info->block_origin, "max_threads", (json_int_t)info->max_threads, "registers",
                     (json_int_t)info->registers, "spill_bytes", (json_int_t)info->spill_bytes,
                     "shared_bytes", (json_int_t)info->shared_bytes, "blocks_per_unit",
                     (json_int_t)info->blocks_per_unit, "occupancy", info->occupancy, "limited_by",
                     info->limited_by);
}

static json_t *describe_kernel(const struct gantry_kernel_source *source, const struct trial *trial)
{
    return json_pack("{s:s, s:o, s:I, s:o, s:I, s:I, s:b, s:b, s:b, s:I, s:I, s:o, s:f, s:o}",
                     "name", source->name, "args", describe_args(source), "dimensions",
                     (json_int_t)source->dimensions, "block",
                     source->block.x ? json_size(source->block) : json_null(), "block_multiple",
                     (json_int_t)source->block_multiple, "block_max", (json_int_t)source->block_max,
                     "block_pow2", source->block_pow2, "grid_stride", source->grid_stride,
                     "early_return", source->early_return, "shared_bytes",
                     (json_int_t)source->shared_bytes, "shared_per_thread",
                     (json_int_t)source->shared_per_thread, "features",
                     json_features(source->features), "tolerance", source->tolerance, "on_device",
                     trial ? describe_trial(trial) : json_null());
}

static json_t *describe_kernels(const struct inspection *inspection)
{
    uint32_t count = gantry_package_kernel_count(inspection->package);
    struct gantry_kernel_source source;
    json_t *kernels = json_array();

    for (uint32_t i = 0; i < count; i++) {
        gantry_package_kernel(inspection->package, i, &source);
        kernels = json_list_add(kernels,
                                describe_kernel(&source, inspection->trials ? &inspection->trials[i]
                                                                            : NULL));
    }
    return kernels;
}

static json_t *describe_images(const struct gantry_package *package)
{
    uint32_t count = gantry_package_image_count(package);
    struct gantry_image_info image;
    json_t *images = json_array();

    for (uint32_t i = 0; i < count; i++) {
        gantry_package_image(package, i, &image, NULL);
        images =
            json_list_add(images,
                          json_pack("{s:s, s:s, s:s?, s:s, s:I, s:I, s:o, s:I}", "kind",
                                    gantry_image_kind_name(image.kind), "entry",
                                    entry_name(image.entry), "kernel", image.kernel, "name",
                                    image.name, "arch", (json_int_t)image.arch, "isa_version",
                                    (json_int_t)image.isa_version, "features",
                                    json_features(image.features), "size", (json_int_t)image.size));
    }
    return images;
}

int inspect_print_json(const struct inspection *inspection, int status)
{
    json_t *device = json_null();

    if (inspection->device)
        device =
            json_pack("{s:I, s:s, s:s?}", "index", (json_int_t)inspection->opened.index, "name",
                      inspection->opened.name, "backend", inspection->opened.chosen_backend);
    return output_json(json_pack("{s:s, s:s, s:o, s:o, s:o}", "file", inspection->file, "name",
                                 gantry_package_name(inspection->package), "device", device,
                                 "kernels", describe_kernels(inspection), "images",
                                 describe_images(inspection->package)),
                       status);
}
