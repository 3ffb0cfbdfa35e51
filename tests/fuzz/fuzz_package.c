/* Fuzz target: the bytes of a kernel package, read, looked into, and loaded on a device. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "core/package_check.h"
#include "core/package_format.h"
#include "core/package_hash.h"
#include "core/utf8.h"

#include "paper_device.h"

struct input {
    const uint8_t *data;
    size_t size;
    struct gpk_header header; /* zeros when there is none */
};

static struct gantry_package *open_bytes(const uint8_t *data, size_t size)
{
    const struct gantry_package_params params = {.data = data, .size = size};
    struct gantry_package *package;
    enum gantry_status status = gantry_package_open(&params, &package);

    HOLDS((status == GANTRY_OK) == (package != NULL));
    if (status != GANTRY_OK) {
        HOLDS(status == GANTRY_E_PACKAGE);
        HOLDS(strlen(gantry_last_error()) > 20 && utf8_valid(gantry_last_error()));
    }
    return package;
}

/* ---- What a package says -------------------------------------------------------------------- */

static void check_text(const char *text)
{
    HOLDS(text && strlen(text) < 1024 && utf8_valid(text));
    for (; *text; text++)
        HOLDS((unsigned char)*text >= ' ' && *text != 0x7f);
}

static void check_reach(const struct gantry_kernel_source *kernel,
                        const struct gantry_field_info *field)
{
    HOLDS(field->reach_count <= 3);
    for (uint32_t i = 0; i < field->reach_count; i++) {
        int32_t factor = field->reach[i].field;

        HOLDS(factor >= -1 && factor < (int32_t)kernel->field_count);
        HOLDS(factor >= 0 || field->reach[i].number > 0);
        HOLDS(factor < 0 || (kernel->fields[factor].count == 1 &&
                             kernel->fields[factor].type >= GANTRY_SCALAR_INT8 &&
                             kernel->fields[factor].type <= GANTRY_SCALAR_UINT64));
    }
}

/* Returns where the field ends. */
static uint64_t check_field(const struct gantry_kernel_source *kernel, uint32_t i, uint64_t end)
{
    const struct gantry_field_info *field = &kernel->fields[i];
    uint32_t size = scalar_size(field->type);

    check_text(field->name);
    check_text(field->pointee);
    HOLDS(is_identifier(field->name));
    for (uint32_t other = 0; other < i; other++)
        HOLDS(strcmp(kernel->fields[other].name, field->name) != 0);
    HOLDS(size && field->count && field->size == (uint64_t)size * field->count);
    HOLDS(field->offset % size == 0 && field->offset >= end);
    HOLDS(kernel->args_size % size == 0);
    if (field->type == GANTRY_SCALAR_POINTER)
        check_reach(kernel, field);
    else
        HOLDS(!field->pointee[0] && !field->pointee_size && !field->may_be_null &&
              !field->written && !field->reach_count);
    return (uint64_t)field->offset + field->size;
}

static void check_kernel_source(const struct gantry_kernel_source *kernel)
{
    uint64_t end = 0;

    check_text(kernel->name);
    check_text(kernel->args_name);
    HOLDS(is_identifier(kernel->name));
    HOLDS(kernel->dimensions >= 1 && kernel->dimensions <= 3);
    HOLDS(isfinite(kernel->tolerance) && kernel->tolerance >= 0);
    for (uint32_t i = 0; i < kernel->field_count; i++)
        end = check_field(kernel, i, end);
    HOLDS(end <= kernel->args_size);
}

/* The image is that of its record, byte for byte, and inside the file. */
static void check_image_bytes(const struct input *input, uint32_t i,
                              const struct gantry_image_info *image, const void *data)
{
    struct gpk_image record;

    memcpy(&record, input->data + input->header.images.offset + i * sizeof(record), sizeof(record));
    HOLDS(record.size == image->size && record.offset <= input->size &&
          record.size <= input->size - record.offset);
    HOLDS(memcmp(data, input->data + record.offset, record.size) == 0);
    HOLDS(image->kind == GANTRY_IMAGE_PTX || image->kind == GANTRY_IMAGE_SOURCE ||
          (uintptr_t)data % 16 == 0);
}

static void check_contents(const struct input *input, const struct gantry_package *package)
{
    uint32_t kernels = gantry_package_kernel_count(package);
    uint32_t images = gantry_package_image_count(package);
    struct gantry_kernel_source kernel;
    struct gantry_image_info image;
    const void *data;

    check_text(gantry_package_name(package));
    HOLDS(kernels == input->header.kernels.count && images == input->header.images.count);
    for (uint32_t i = 0; i < kernels; i++) {
        HOLDS(gantry_package_kernel(package, i, &kernel) == GANTRY_OK);
        check_kernel_source(&kernel);
    }
    for (uint32_t i = 0; i < images; i++) {
        HOLDS(gantry_package_image(package, i, &image, &data) == GANTRY_OK);
        check_text(image.name);
        HOLDS(image.kernel || image.kind != GANTRY_IMAGE_SPIRV);
        check_image_bytes(input, i, &image, data);
    }
    HOLDS(gantry_package_kernel(package, kernels, &kernel) == GANTRY_E_INVALID_ARGUMENT);
    HOLDS(gantry_package_image(package, images, &image, NULL) == GANTRY_E_INVALID_ARGUMENT);
}

/* ---- The same again ------------------------------------------------------------------------- */

static void check_same_fields(const struct gantry_kernel_source *a,
                              const struct gantry_kernel_source *b)
{
    for (uint32_t i = 0; i < a->field_count; i++) {
        const struct gantry_field_info *left = &a->fields[i], *right = &b->fields[i];

        HOLDS(strcmp(left->name, right->name) == 0 && strcmp(left->pointee, right->pointee) == 0);
        HOLDS(left->type == right->type && left->offset == right->offset &&
              left->count == right->count && left->pointee_size == right->pointee_size &&
              left->written == right->written && left->may_be_null == right->may_be_null &&
              left->reach_count == right->reach_count);
    }
}

static void check_again(const struct input *input, const struct gantry_package *package)
{
    struct gantry_package *again = open_bytes(input->data, input->size);
    struct gantry_kernel_source a, b;

    HOLDS(again && strcmp(gantry_package_name(package), gantry_package_name(again)) == 0);
    for (uint32_t i = 0; i < gantry_package_kernel_count(package); i++) {
        gantry_package_kernel(package, i, &a);
        gantry_package_kernel(again, i, &b);
        HOLDS(strcmp(a.name, b.name) == 0 && strcmp(a.args_name, b.args_name) == 0);
        HOLDS(a.args_size == b.args_size && a.field_count == b.field_count &&
              a.layout_hash == b.layout_hash && a.features == b.features);
        check_same_fields(&a, &b);
    }
    gantry_package_close(&again);
    HOLDS(!again);
}

/* A bit that is not as it was, wherever it is, is noticed; so is a file that was cut. */
static void check_damage(const struct input *input)
{
    uint64_t place = gpk_hash(input->data, input->size) % (8 * (uint64_t)input->size);
    uint8_t *copy = malloc(input->size);

    HOLDS(copy);
    memcpy(copy, input->data, input->size);
    copy[place / 8] ^= (uint8_t)(1u << place % 8);
    HOLDS(!open_bytes(copy, input->size));
    HOLDS(!open_bytes(input->data, input->size - 1 - place % input->size));
    free(copy);
}

/* ---- On a device ---------------------------------------------------------------------------- */

static void count_verdict(void *user, const struct gantry_image_verdict *verdict)
{
    unsigned *usable = user;

    HOLDS(!verdict->used || !verdict->text);
    *usable += !verdict->text;
}

static void check_made(struct gantry_kernel *kernel, const struct gantry_kernel_source *source)
{
    struct gantry_kernel_info info;
    uint64_t threads;

    HOLDS(gantry_kernel_describe(kernel, &info) == GANTRY_OK);
    HOLDS(strcmp(info.name, source->name) == 0 && info.block_origin[0]);
    threads = (uint64_t)info.block.x * info.block.y * info.block.z;
    HOLDS(threads >= 1 && threads <= info.max_threads);
    HOLDS(source->block_multiple < 2 || threads % source->block_multiple == 0);
    HOLDS(!source->block_max || threads <= source->block_max);
    HOLDS(!source->block_pow2 || (threads & (threads - 1)) == 0);
    HOLDS(!source->block.x || source->block.x == info.block.x);
}

static void check_on_device(struct gantry_module *module, const struct gantry_kernel_source *source)
{
    struct gantry_kernel *kernel;
    enum gantry_status status = gantry_kernel_create(module, source->name, NULL, &kernel);
    enum gantry_status examined;
    unsigned usable = 0;

    HOLDS(status == GANTRY_OK || status == GANTRY_E_LIMIT || status == GANTRY_E_UNSUPPORTED ||
          status == GANTRY_E_NO_IMAGE);
    if (status == GANTRY_OK)
        check_made(kernel, source);
    gantry_kernel_destroy(&kernel);
    examined = gantry_module_examine(module, source->name, count_verdict, &usable);
    HOLDS(examined == status);
    /* The image that is taken can need a smaller block than others do. */
    HOLDS(status == GANTRY_E_LIMIT || (status == GANTRY_OK) == (usable > 0));
}

static void check_module(const struct input *input, const struct gantry_package *package)
{
    const struct gantry_module_params params = {.data = input->data, .size = input->size};
    struct gantry_kernel_source source;
    struct gantry_module *module;

    HOLDS(gantry_module_load(paper_device(), &params, &module) == GANTRY_OK);
    for (uint32_t i = 0; i < gantry_package_kernel_count(package); i++) {
        gantry_package_kernel(package, i, &source);
        check_on_device(module, &source);
    }
    gantry_module_unload(&module);
    paper_collect();
    HOLDS(paper_kernels() == 0);
}

/* ---- The target ----------------------------------------------------------------------------- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .size = size};
    struct gantry_package *package = open_bytes(data, size);

    if (!package)
        return 0;
    memcpy(&input.header, data, sizeof(input.header));
    HOLDS(input.header.hash == gpk_hash(data, size));
    check_contents(&input, package);
    check_again(&input, package);
    check_damage(&input);
    check_module(&input, package);
    gantry_package_close(&package);
    return 0;
}
