/* gantry inspect for people. */
#include <inttypes.h>
#include <stdio.h>

#include "inspect.h"
#include "output.h"

static void print_pointer(const struct gantry_kernel_source *source,
                          const struct gantry_field_info *field)
{
    printf(" to %s, %s", field->pointee, field->written ? "written" : "only read");
    if (field->may_be_null)
        fputs(", may be null", stdout);
    for (uint32_t i = 0; i < field->reach_count; i++) {
        fputs(i ? " * " : ", reaches ", stdout);
        if (field->reach[i].field < 0)
            printf("%" PRIu64, field->reach[i].number);
        else
            fputs(source->fields[field->reach[i].field].name, stdout);
    }
}

static void print_field(const struct gantry_kernel_source *source,
                        const struct gantry_field_info *field)
{
    printf("      %4u  %-8s %s", field->offset, gantry_scalar_name(field->type), field->name);
    if (field->count > 1)
        printf("[%u]", field->count);
    if (field->type == GANTRY_SCALAR_POINTER)
        print_pointer(source, field);
    putchar('\n');
}

static void print_block_rules(const struct gantry_kernel_source *source)
{
    fputs("    block      ", stdout);
    if (source->block.x)
        print_size(source->block, source->dimensions);
    else
        fputs("chosen for the device", stdout);
    if (source->block_multiple > 1)
        printf(", a multiple of %u threads", source->block_multiple);
    if (source->block_pow2)
        fputs(", a power of two", stdout);
    if (source->block_max)
        printf(", at most %u threads", source->block_max);
    if (source->grid_stride)
        fputs(", on any number of blocks", stdout);
    putchar('\n');
}

static void print_source(const struct gantry_kernel_source *source)
{
    printf("\n  %s, %u-dimensional\n", source->name, source->dimensions);
    print_block_rules(source);
    printf("    shared     %u bytes", source->shared_bytes);
    if (source->shared_per_thread)
        printf(" and %u a thread", source->shared_per_thread);
    fputs("\n    needs      ", stdout);
    print_features(source->features);
    fputs("\n    tolerance  ", stdout);
    if (source->tolerance > 0)
        printf("%g between backends\n", source->tolerance);
    else
        puts("none: bit-equal on every backend");
    if (source->early_return)
        puts("    can return before a BARRIER or a subgroup operation");
    printf("    arguments  struct %s, %u bytes, layout %016" PRIx64 "\n", source->args_name,
           source->args_size, source->layout_hash);
    for (uint32_t i = 0; i < source->field_count; i++)
        print_field(source, &source->fields[i]);
}

static void print_trial(const struct trial *trial, uint32_t dimensions)
{
    const struct gantry_kernel_info *info = &trial->info;

    if (trial->failure) {
        printf("    on the device: %s\n", trial->failure);
        return;
    }
    printf("    on the device: %s, block ", info->image);
    print_size(info->block, dimensions);
    printf(" (%s), at most %u threads\n", info->block_origin, info->max_threads);
    fputs("               ", stdout);
    if (info->registers)
        printf("%u registers, %u bytes spilled, ", info->registers, info->spill_bytes);
    printf("%u bytes shared", info->shared_bytes);
    if (info->occupancy > 0)
        printf(", occupancy %.0f%% (%u blocks a compute unit)", 100 * info->occupancy,
               info->blocks_per_unit);
    if (info->limited_by)
        printf(", limited by %s", info->limited_by);
    putchar('\n');
}

/* A number such as 90 or 63 with what it says: "sm_90", "compute_90, .version 6.3". */
static void print_image_target(const struct gantry_image_info *image)
{
    switch (image->kind) {
    case GANTRY_IMAGE_SPIRV:
        printf("version %u.%u, ", image->isa_version / 10, image->isa_version % 10);
        break;
    case GANTRY_IMAGE_CUBIN:
        printf("sm_%u, ", image->arch);
        break;
    case GANTRY_IMAGE_PTX:
        printf("compute_%u, .version %u.%u, ", image->arch, image->isa_version / 10,
               image->isa_version % 10);
        break;
    case GANTRY_IMAGE_FATBIN:
    case GANTRY_IMAGE_SOURCE:
    case GANTRY_IMAGE_HOST:
        break;
    }
}

static void print_image(const struct gantry_image_info *image)
{
    printf("  %-7s %-6s %s", gantry_image_kind_name(image->kind), entry_name(image->entry),
           image->kernel ? image->kernel : "every kernel");
    if (image->name[0])
        printf(" (%s)", image->name);
    fputs(": ", stdout);
    print_image_target(image);
    printf("%" PRIu64 " bytes", image->size);
    if (image->features) {
        fputs(", needs ", stdout);
        print_features(image->features);
    }
    putchar('\n');
}

void inspect_print_text(const struct inspection *inspection)
{
    uint32_t kernels = gantry_package_kernel_count(inspection->package);
    uint32_t images = gantry_package_image_count(inspection->package);
    struct gantry_kernel_source source;
    struct gantry_image_info image;

    printf("Package %s (%s)\n", gantry_package_name(inspection->package), inspection->file);
    if (inspection->device)
        printf("Device %u: %s, opened through %s\n", inspection->opened.index,
               inspection->opened.name, inspection->opened.chosen_backend);
    puts("\nKernels");
    for (uint32_t i = 0; i < kernels; i++) {
        gantry_package_kernel(inspection->package, i, &source);
        print_source(&source);
        if (inspection->trials)
            print_trial(&inspection->trials[i], source.dimensions);
    }
    puts("\nImages");
    for (uint32_t i = 0; i < images; i++) {
        gantry_package_image(inspection->package, i, &image, NULL);
        print_image(&image);
    }
}
