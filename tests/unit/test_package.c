/* core/package*.c: well-formed packages are read as they were written, and nothing else is
 * accepted. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "core/package.h"
#include "core/package_format.h"
#include "gpk_builder.h"
#include "scratch.h"

static const uint32_t spirv[] = {0x07230203, 0x00010500, 0, 1, 0};
static const char ptx[] = ".version 6.3\n.target sm_75\n"; /* used without its zero */

static const struct gantry_field_info saxpy_fields[] = {
    {.name = "x",
     .type = GANTRY_SCALAR_POINTER,
     .offset = 0,
     .size = 8,
     .count = 1,
     .pointee = "float",
     .pointee_size = 4,
     .may_be_null = true},
    {.name = "y",
     .type = GANTRY_SCALAR_POINTER,
     .offset = 8,
     .size = 8,
     .count = 1,
     .pointee = "float",
     .pointee_size = 4,
     .written = true,
     .reach_count = 2,
     .reach = {{.field = 3}, {.field = -1, .number = UINT64_MAX}}},
    {.name = "a", .type = GANTRY_SCALAR_FLOAT, .offset = 16, .size = 4, .count = 1, .pointee = ""},
    {.name = "n", .type = GANTRY_SCALAR_UINT32, .offset = 20, .size = 4, .count = 1, .pointee = ""},
};

static const struct gantry_field_info blur_fields[] = {
    {.name = "w", .type = GANTRY_SCALAR_FLOAT, .offset = 0, .size = 20, .count = 5, .pointee = ""},
};

static const struct gantry_kernel_source kernels[] = {
    {
        .name = "saxpy",
        .args_name = "saxpy_args",
        .args_size = 24,
        .field_count = 4,
        .fields = saxpy_fields,
        .dimensions = 1,
        .block_multiple = 32,
        .block_max = 512,
        .block_pow2 = true,
        .grid_stride = true,
        .shared_per_thread = 4,
        .tolerance = 1e-6,
    },
    {
        .name = "blur",
        .args_name = "blur_args",
        .args_size = 20,
        .field_count = 1,
        .fields = blur_fields,
        .dimensions = 2,
        .block = {16, 16, 1},
        .early_return = true,
        .shared_bytes = 4096,
        .features = GANTRY_FEATURE_INT64,
    },
};

static const struct gpk_build_image images[] = {
    {.kernel = 0,
     .kind = GANTRY_IMAGE_SPIRV,
     .entry = GANTRY_ENTRY_DIRECT,
     .isa_version = 15,
     .data = spirv,
     .size = sizeof(spirv)},
    {.kernel = 1,
     .kind = GANTRY_IMAGE_SPIRV,
     .entry = GANTRY_ENTRY_FOLDED,
     .isa_version = 15,
     .features = GANTRY_FEATURE_HALF,
     .data = spirv,
     .size = sizeof(spirv)},
    {.kernel = 1,
     .kind = GANTRY_IMAGE_PTX,
     .entry = GANTRY_ENTRY_ALL,
     .arch = 75,
     .isa_version = 63,
     .data = ptx,
     .size = sizeof(ptx) - 1},
    {.kernel = UINT32_MAX,
     .kind = GANTRY_IMAGE_SOURCE,
     .entry = GANTRY_ENTRY_ALL,
     .name = "saxpy.cu",
     .data = "int x;",
     .size = 6},
    {.kernel = 0,
     .kind = GANTRY_IMAGE_SPIRV,
     .entry = GANTRY_ENTRY_CHAINED,
     .isa_version = 15,
     .features = GANTRY_FEATURE_MEMORY_MODEL,
     .data = spirv,
     .size = sizeof(spirv)},
};

static const struct gpk_build good = {
    .name = "saxpy",
    .toolchain = "test",
    .kernels = kernels,
    .kernel_count = 2,
    .images = images,
    .image_count = 5,
};

/* ---- Reading well-formed packages ---------------------------------------------------------- */

static void check_same_pointer(const struct gantry_field_info *a, const struct gantry_field_info *b)
{
    assert_int_equal(a->pointee_size, b->pointee_size);
    assert_int_equal(a->may_be_null, b->may_be_null);
    assert_int_equal(a->written, b->written);
    assert_int_equal(a->reach_count, b->reach_count);
    for (uint32_t i = 0; i < a->reach_count; i++) {
        assert_int_equal(a->reach[i].field, b->reach[i].field);
        assert_int_equal(a->reach[i].number, b->reach[i].number);
    }
}

static void check_same_kernel(const struct gantry_kernel_source *a,
                              const struct gantry_kernel_source *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->args_name, b->args_name);
    assert_int_equal(a->args_size, b->args_size);
    assert_int_equal(a->dimensions, b->dimensions);
    assert_memory_equal(&a->block, &b->block, sizeof(a->block));
    assert_int_equal(a->block_multiple, b->block_multiple);
    assert_int_equal(a->block_max, b->block_max);
    assert_int_equal(a->block_pow2, b->block_pow2);
    assert_int_equal(a->grid_stride, b->grid_stride);
    assert_int_equal(a->early_return, b->early_return);
    assert_int_equal(a->shared_bytes, b->shared_bytes);
    assert_int_equal(a->shared_per_thread, b->shared_per_thread);
    assert_int_equal(a->features, b->features);
    assert_true(fabs(a->tolerance - b->tolerance) < 1e-30);
    assert_int_equal(a->field_count, b->field_count);
    for (uint32_t i = 0; i < a->field_count; i++) {
        assert_string_equal(a->fields[i].name, b->fields[i].name);
        assert_string_equal(a->fields[i].pointee, b->fields[i].pointee);
        assert_int_equal(a->fields[i].type, b->fields[i].type);
        assert_int_equal(a->fields[i].offset, b->fields[i].offset);
        assert_int_equal(a->fields[i].size, b->fields[i].size);
        assert_int_equal(a->fields[i].count, b->fields[i].count);
        check_same_pointer(&a->fields[i], &b->fields[i]);
    }
}

static void check_is_good(const struct gantry_package *package)
{
    assert_int_equal(gantry_package_kernel_count(package), 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct gantry_kernel_source kernel;

        assert_int_equal(gantry_package_kernel(package, i, &kernel), GANTRY_OK);
        check_same_kernel(&kernel, &kernels[i]);
    }
    assert_int_equal(gantry_package_image_count(package), 5);
    for (uint32_t i = 0; i < 4; i++) {
        struct gantry_image_info info;
        const void *data;

        assert_int_equal(gantry_package_image(package, i, &info, &data), GANTRY_OK);
        assert_int_equal(info.kind, images[i].kind);
        assert_int_equal(info.entry, images[i].entry);
        assert_int_equal(info.arch, images[i].arch);
        assert_int_equal(info.isa_version, images[i].isa_version);
        assert_int_equal(info.features, images[i].features);
        assert_string_equal(info.name, images[i].name ? images[i].name : "");
        assert_int_equal(info.size, images[i].size);
        assert_memory_equal(data, images[i].data, info.size);
        if (images[i].kernel == UINT32_MAX)
            assert_null(info.kernel);
        else
            assert_string_equal(info.kernel, kernels[images[i].kernel].name);
    }
}

static void test_reads_what_was_written(void **state)
{
    struct gantry_package_params params = {0};
    struct gantry_package *package;
    uint8_t *data;

    (void)state;
    params.data = data = gpk_build(&good, &params.size);
    assert_int_equal(gantry_package_open(&params, &package), GANTRY_OK);
    free(data);
    assert_string_equal(gantry_package_name(package), "saxpy");
    check_is_good(package);
    gantry_package_close(&package);
    assert_null(package);
}

static void test_reads_files(void **state)
{
    struct gantry_package_params params = {0};
    struct gantry_package *package;
    uint8_t *data;
    size_t size;

    (void)state;
    data = gpk_build(&good, &size);
    params.file = scratch_write_bytes("good.gpk", data, size);
    assert_int_equal(gantry_package_open(&params, &package), GANTRY_OK);
    check_is_good(package);
    gantry_package_close(&package);
    params.file = scratch_write_bytes("cut.gpk", data, size - 1);
    assert_int_equal(gantry_package_open(&params, &package), GANTRY_E_PACKAGE);
    assert_null(package);
    assert_contains(gantry_last_error(), "cut.gpk");
    params.file = scratch_path("missing.gpk");
    assert_int_equal(gantry_package_open(&params, &package), GANTRY_E_IO);
    assert_contains(gantry_last_error(), "missing.gpk");
    params.file = "/";
    assert_int_equal(gantry_package_open(&params, &package), GANTRY_E_IO);
    free(data);
}

/* Compilers read up to a zero, which the file does not hold. */
static void test_texts_end(void **state)
{
    struct gantry_image_info info;
    struct gantry_package *package;
    const void *text;
    size_t size;
    uint8_t *data;

    (void)state;
    data = gpk_build(&good, &size);
    assert_int_equal(package_parse(data, size, "test", &package), GANTRY_OK);
    for (uint32_t i = 2; i < 4; i++) {
        assert_int_equal(gantry_package_image(package, i, &info, &text), GANTRY_OK);
        assert_int_equal(strlen(text), info.size);
    }
    package_free(package);
    free(data);
}

/* ---- Damage -------------------------------------------------------------------------------- */

static enum gantry_status parse(const uint8_t *data, size_t size)
{
    struct gantry_package *package = NULL;
    /* At the end of its own allocation, so that a read behind it is noticed by the sanitizer. */
    uint8_t *exact = malloc(size ? size : 1);
    enum gantry_status status;

    assert_non_null(exact);
    memcpy(exact, data, size);
    status = package_parse(exact, size, "test", &package);
    free(exact);
    assert_int_equal(status == GANTRY_OK, package != NULL);
    package_free(package);
    return status;
}

static void test_refuses_every_truncation(void **state)
{
    size_t size;
    uint8_t *data = gpk_build(&good, &size);

    (void)state;
    for (size_t cut = 0; cut < size; cut++) {
        uint64_t stated = cut;

        assert_int_equal(parse(data, cut), GANTRY_E_PACKAGE);
        if (cut < sizeof(struct gpk_header))
            continue;
        /* Cut by someone who corrects the header. */
        uint8_t *copy = malloc(cut);

        assert_non_null(copy);
        memcpy(copy, data, cut);
        memcpy(copy + offsetof(struct gpk_header, file_size), &stated, sizeof(stated));
        gpk_seal(copy, cut);
        assert_int_equal(parse(copy, cut), GANTRY_E_PACKAGE);
        free(copy);
    }
    free(data);
}

/* A changed file may be a package too; it must only be safe to look at. */
static void look_at_all(const uint8_t *data, size_t size)
{
    struct gantry_package *package;

    if (package_parse(data, size, "test", &package) != GANTRY_OK) {
        assert_true(gantry_last_error()[0] != '\0');
        return;
    }
    for (uint32_t i = 0; i < package->kernel_count; i++) {
        const struct gantry_kernel_source *kernel = &package->kernels[i];

        assert_true(package_layout_hash(kernel) == kernel->layout_hash);
    }
    for (uint32_t i = 0; i < package->image_count; i++) {
        const struct gantry_backend_image *image = &package->images[i].image;
        void *copy = malloc(image->size); /* reads every byte, for the sanitizer to see */

        assert_non_null(copy);
        memcpy(copy, image->data, image->size);
        free(copy);
    }
    package_free(package);
}

static void test_refuses_every_changed_bit(void **state)
{
    size_t size;
    uint8_t *data = gpk_build(&good, &size);

    (void)state;
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            data[at] ^= (uint8_t)(1 << bit);
            assert_int_equal(parse(data, size), GANTRY_E_PACKAGE);
            data[at] ^= (uint8_t)(1 << bit);
        }
    }
    free(data);
}

static void test_survives_sealed_changes(void **state)
{
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t size;
    uint8_t *data = gpk_build(&good, &size);

    (void)state;
    for (size_t at = 0; at < size; at++) {
        uint8_t before = data[at];

        for (size_t v = 0; v < sizeof(values); v++) {
            data[at] = values[v];
            gpk_seal(data, size);
            look_at_all(data, size);
        }
        data[at] = before;
    }
    free(data);
}

/* Words that are nearly right are the hardest: large offsets and counts that wrap. */
static void test_survives_sealed_words(void **state)
{
    static const uint64_t values[] = {
        0, 8, 0xfffffff8u, 0xffffffffu, 0x7fffffffffffffff, UINT64_MAX - 7, UINT64_MAX};
    size_t size;
    uint8_t *data = gpk_build(&good, &size);

    (void)state;
    for (size_t at = 0; at + 8 <= size; at += 4) {
        uint8_t before[8];

        memcpy(before, data + at, sizeof(before));
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
            memcpy(data + at, &values[v], v & 1 ? 4 : 8);
            gpk_seal(data, size);
            look_at_all(data, size);
            memcpy(data + at, before, sizeof(before));
        }
    }
    free(data);
}

/* ---- Contents that contradict each other --------------------------------------------------- */

static void check_refused(const struct gantry_kernel_source *kernel, const char *part)
{
    struct gpk_build build = {.name = "p", .kernels = kernel, .kernel_count = 1};
    size_t size;
    uint8_t *data = gpk_build(&build, &size);

    assert_int_equal(parse(data, size), GANTRY_E_PACKAGE);
    assert_contains(gantry_last_error(), part);
    assert_contains(gantry_last_error(), "kernel 0 at offset 104");
    free(data);
}

static void test_refuses_bad_kernels(void **state)
{
    static const struct {
        struct gantry_kernel_source change; /* added to a plain kernel */
        const char *part;
    } cases[] = {
        {{.name = "2nd"}, "no identifier"},
        {{.name = "k", .dimensions = 3}, "4 dimensions"},
        {{.name = "k", .block = {16, 0, 1}}, "axis of 0"},
        {{.name = "k", .block = {65536, 65536, 1}}, "more threads than 32 bits"},
        {{.name = "k", .block = {33, 1, 1}, .block_multiple = 32}, "BLOCK_MULTIPLE 32"},
        {{.name = "k", .block = {96, 1, 1}, .block_pow2 = true}, "BLOCK_POW2"},
        {{.name = "k", .block = {128, 1, 1}, .block_max = 64}, "BLOCK_MAX 64"},
        {{.name = "k", .block_multiple = 96, .block_pow2 = true}, "BLOCK_MULTIPLE 96"},
        {{.name = "k", .block_multiple = 128, .block_max = 64}, "more than BLOCK_MAX"},
        {{.name = "k", .tolerance = -1}, "tolerance"},
        {{.name = "k", .features = 1u << 31}, "does not know"},
        {{.name = "k", .layout_hash = 1}, "hash"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gantry_kernel_source kernel = cases[i].change;

        kernel.args_name = "args";
        kernel.dimensions++;
        check_refused(&kernel, cases[i].part);
    }
}

static void test_refuses_bad_fields(void **state)
{
    const struct gantry_field_info a = {
        .name = "a", .type = GANTRY_SCALAR_FLOAT, .size = 4, .count = 1, .pointee = ""};
    struct gantry_field_info fields[2] = {a, a};
    struct gantry_kernel_source kernel = {.name = "k",
                                          .args_name = "args",
                                          .args_size = 8,
                                          .field_count = 2,
                                          .fields = fields,
                                          .dimensions = 1};

    (void)state;
    check_refused(&kernel, "both called \"a\"");
    fields[1].name = "b";
    check_refused(&kernel, "overlaps");
    fields[1].offset = 2;
    check_refused(&kernel, "no multiple of 4");
    fields[1].offset = 8;
    check_refused(&kernel, "ends at byte 12");
    fields[1].offset = 4;
    fields[1].size = 8;
    check_refused(&kernel, "1 elements");
    fields[1].size = 0;
    fields[1].count = 0;
    check_refused(&kernel, "0 elements");
    fields[1] = a;
    fields[1].name = "b";
    fields[1].offset = 4;
    fields[1].pointee = "float";
    check_refused(&kernel, "pointee");
    fields[1].pointee = "";
    fields[1].type = (enum gantry_scalar)12;
    check_refused(&kernel, "does not exist");
    fields[1].type = GANTRY_SCALAR_FLOAT;
    kernel.args_size = 10;
    check_refused(&kernel, "no multiple of its alignment 4");
}

static void test_refuses_bad_pointers(void **state)
{
    struct gantry_field_info fields[2] = {
        {.name = "p", .type = GANTRY_SCALAR_POINTER, .size = 8, .count = 1, .pointee = "float"},
        {.name = "n", .type = GANTRY_SCALAR_UINT32, .offset = 8, .size = 8, .count = 2}};
    struct gantry_kernel_source kernel = {.name = "k",
                                          .args_name = "args",
                                          .args_size = 16,
                                          .field_count = 2,
                                          .fields = fields,
                                          .dimensions = 1};

    (void)state;
    fields[1].pointee = "";
    fields[0].pointee_size = (1 << 20) + 1;
    check_refused(&kernel, "points to elements of 1048577 bytes");
    fields[0].pointee_size = 4;
    fields[0].reach_count = 4;
    check_refused(&kernel, "has 4 factors, more than 3");
    fields[0].reach_count = 1;
    check_refused(&kernel, "factor 0 of the reach of field \"p\""); /* the pointer itself */
    fields[0].reach[0].field = 1;
    check_refused(&kernel, "neither a plain integer"); /* an array */
    fields[0].reach[0].field = 2;
    check_refused(&kernel, "neither a plain integer"); /* there is none */
    fields[0].reach[0].field = -2;
    check_refused(&kernel, "neither a plain integer");
    fields[0].reach[0].field = -1;
    check_refused(&kernel, "nor a number above 0");
    fields[0].reach_count = 0;
    fields[1].written = true;
    check_refused(&kernel, "field \"n\" is no pointer");
}

/* Version 1 had shorter records of fields. */
static void test_reads_version_1(void **state)
{
    struct gpk_header header;
    struct gantry_package *package;
    size_t size;
    uint8_t *data = gpk_build(&good, &size);

    (void)state;
    memcpy(&header, data, sizeof(header));
    for (uint32_t i = 1; i < header.fields.count; i++)
        memmove(data + header.fields.offset + (size_t)i * GPK_FIELD_SIZE_1,
                data + header.fields.offset + i * sizeof(struct gpk_field), GPK_FIELD_SIZE_1);
    header.version = 1;
    memcpy(data, &header, sizeof(header));
    gpk_seal(data, size);
    assert_int_equal(package_parse(data, size, "test", &package), GANTRY_OK);
    for (uint32_t i = 0; i < 4; i++) {
        const struct gantry_field_info *field = &package->kernels[0].fields[i];

        assert_string_equal(field->name, saxpy_fields[i].name);
        assert_int_equal(field->written, field->type == GANTRY_SCALAR_POINTER);
        assert_false(field->may_be_null);
        assert_int_equal(field->pointee_size + field->reach_count, 0);
    }
    package_free(package);
    header.version = 3;
    memcpy(data, &header, sizeof(header));
    gpk_seal(data, size);
    assert_int_equal(parse(data, size), GANTRY_E_PACKAGE);
    assert_contains(gantry_last_error(), "has package version 3");
    free(data);
}

static void test_refuses_bad_images(void **state)
{
    struct gantry_kernel_source kernel = {.name = "k", .args_name = "args", .dimensions = 1};
    const struct gpk_build_image plain = images[0];
    struct gpk_build_image image = plain;
    struct gpk_build build = {
        .name = "p", .kernels = &kernel, .kernel_count = 1, .images = &image, .image_count = 1};
    static const struct {
        const char *part;
        struct gpk_build_image change;
    } cases[] = {
        {"there are 1", {.kernel = 1}},
        {"holds one kernel", {.kernel = UINT32_MAX}},
        {"kind 8", {.kind = (enum gantry_image_kind)7}},
        {"entry 4", {.entry = (enum gantry_entry)4}},
        {"one entry, not all", {.entry = GANTRY_ENTRY_ALL}},
        {"do not begin as a cubin", {.kind = GANTRY_IMAGE_CUBIN - GANTRY_IMAGE_SPIRV}},
        {"has no name", {.kind = GANTRY_IMAGE_SOURCE - GANTRY_IMAGE_SPIRV}},
        {"does not know", {.features = 1u << 30}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t size;
        uint8_t *data;

        image = plain;
        image.kernel += cases[i].change.kernel;
        image.kind += cases[i].change.kind;
        image.entry += cases[i].change.entry;
        image.features |= cases[i].change.features;
        data = gpk_build(&build, &size);
        assert_int_equal(parse(data, size), GANTRY_E_PACKAGE);
        assert_contains(gantry_last_error(), cases[i].part);
        free(data);
    }
}

static void test_refuses_twice_the_same_kernel(void **state)
{
    struct gantry_kernel_source twice[2] = {kernels[0], kernels[0]};
    struct gpk_build build = {.name = "p", .kernels = twice, .kernel_count = 2};
    size_t size;
    uint8_t *data = gpk_build(&build, &size);

    (void)state;
    assert_int_equal(parse(data, size), GANTRY_E_PACKAGE);
    assert_contains(gantry_last_error(), "called \"saxpy\" too");
    free(data);
}

/* ---- What users bring themselves ----------------------------------------------------------- */

static void test_wraps_user_images(void **state)
{
    const struct gantry_user_image image = {.kind = GANTRY_IMAGE_PTX,
                                            .data = ptx,
                                            .size = sizeof(ptx) - 1};
    struct gantry_module_params params = {.source = &kernels[0],
                                          .images = &image,
                                          .image_count = 1};
    struct gantry_package *package;

    (void)state;
    assert_int_equal(package_wrap(&params, &package), GANTRY_OK);
    assert_int_equal(package->kernel_count, 1);
    check_same_kernel(&package->kernels[0], &kernels[0]);
    assert_ptr_not_equal(package->kernels[0].fields, saxpy_fields);
    assert_int_equal(package->image_count, 1);
    assert_int_equal(package->images[0].image.entry, GANTRY_ENTRY_DIRECT);
    assert_false(package->images[0].image.packaged);
    assert_string_equal(package->images[0].image.data, ptx);
    package_free(package);
}

static void check_not_wrapped(const struct gantry_module_params *params, const char *part)
{
    struct gantry_package *package;

    assert_int_equal(package_wrap(params, &package), GANTRY_E_INVALID_ARGUMENT);
    assert_null(package);
    assert_contains(gantry_last_error(), part);
}

static void test_refuses_bad_user_images(void **state)
{
    struct gantry_user_image image = {.kind = GANTRY_IMAGE_PTX, .data = ptx, .size = sizeof(ptx)};
    struct gantry_kernel_source source = kernels[0];
    struct gantry_module_params params = {.source = &source, .images = &image, .image_count = 1};

    (void)state;
    params.image_count = 0;
    check_not_wrapped(&params, "image_count 0");
    params.image_count = 1;
    image.kind = GANTRY_IMAGE_HOST;
    check_not_wrapped(&params, "kind 6");
    image.kind = GANTRY_IMAGE_SPIRV;
    image.size = 24;
    check_not_wrapped(&params, "do not begin");
    image.size = 0;
    check_not_wrapped(&params, "no bytes");
    image = (struct gantry_user_image){GANTRY_IMAGE_PTX, ptx, sizeof(ptx), 0};
    source.name = NULL;
    check_not_wrapped(&params, "no identifier");
    source.name = "k";
    source.fields = NULL;
    check_not_wrapped(&params, "field_count 4");
    source = kernels[0];
    source.args_size = 20;
    check_not_wrapped(&params, "ends at byte 24");
}

/* ---- The public calls ---------------------------------------------------------------------- */

static void test_refuses_bad_calls(void **state)
{
    struct gantry_package_params params = {.file = "x", .data = "y", .size = 1};
    struct gantry_package *package = (void *)1;
    struct gantry_kernel_source kernel;

    (void)state;
    assert_int_equal(gantry_package_open(&params, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_package_open(&params, &package), GANTRY_E_INVALID_ARGUMENT);
    assert_null(package);
    assert_int_equal(gantry_package_open(NULL, &package), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "neither");
    assert_int_equal(gantry_package_kernel(NULL, 0, &kernel), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_package_kernel_count(NULL), 0);
    assert_int_equal(gantry_package_image_count(NULL), 0);
    assert_string_equal(gantry_package_name(NULL), "");
    gantry_package_close(&package);
    gantry_package_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_what_was_written),
        cmocka_unit_test_setup_teardown(test_reads_files, scratch_open, scratch_close),
        cmocka_unit_test(test_texts_end),
        cmocka_unit_test(test_refuses_every_truncation),
        cmocka_unit_test(test_refuses_every_changed_bit),
        cmocka_unit_test(test_survives_sealed_changes),
        cmocka_unit_test(test_survives_sealed_words),
        cmocka_unit_test(test_refuses_bad_kernels),
        cmocka_unit_test(test_refuses_bad_fields),
        cmocka_unit_test(test_refuses_bad_pointers),
        cmocka_unit_test(test_reads_version_1),
        cmocka_unit_test(test_refuses_bad_images),
        cmocka_unit_test(test_refuses_twice_the_same_kernel),
        cmocka_unit_test(test_wraps_user_images),
        cmocka_unit_test(test_refuses_bad_user_images),
        cmocka_unit_test(test_refuses_bad_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
