/* The choice among images, and what is told of a kernel. */
#include "harness.h"

enum { THREADS = 256 };

static struct gantry_backend_image text_image(enum gantry_image_kind kind, const char *name,
                                              const char *text)
{
    return (struct gantry_backend_image){
        .kind = kind, .entry = GANTRY_ENTRY_ALL, .name = name, .data = text, .size = strlen(text)};
}

static struct gantry_backend_image ptx_image(const char *text, uint32_t arch, uint32_t version)
{
    struct gantry_backend_image image = text_image(GANTRY_IMAGE_PTX, "", text);

    image.arch = arch;
    image.isa_version = version;
    return image;
}

static enum gantry_status create(struct bench *bench, const char *symbol,
                                 const struct gantry_backend_image *images, uint32_t count,
                                 struct gantry_drv_kernel **kernel,
                                 struct gantry_backend_kernel_info *info)
{
    struct gantry_kernel_source source = {.name = symbol, .args_size = args_size_of(symbol)};
    struct gantry_backend_kernel_params params = {
        .source = &source,
        .symbol = symbol,
        .block = {THREADS, 1, 1},
        .images = images,
        .image_count = count,
    };

    return bench->ops->kernel_create(bench->device, &params, kernel, info);
}

/* The kernel must be affine. */
static void run_and_destroy(struct bench *bench, struct gantry_drv_kernel *kernel)
{
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_READBACK, THREADS * 4);
    struct affine_args args = {y.address, THREADS, 3, 5};
    struct gantry_op op = launch_op(kernel, 1, THREADS, &args, sizeof(args));

    for (uint32_t i = 0; i < THREADS; i++)
        ((uint32_t *)y.host)[i] = i;
    run_ops(bench, &op, 1);
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK_EQUAL(((uint32_t *)y.host)[i], i * 3 + 5);
    bench->ops->memory_free(bench->device, &y);
    bench->ops->kernel_destroy(bench->device, kernel);
}

/* C11, C12: what can't be loaded is passed over, and the sentence says why. */
static void test_refusals(struct bench *bench)
{
    const char *newer = ".version 99.0\n.target sm_75\n.address_size 64\n";
    const char *broken = ".version 6.3\n.target sm_75\n.address_size 64\nnonsense\n";
    struct gantry_backend_image images[] = {
        ptx_image(kernels_ptx, 75, 63),
        text_image(GANTRY_IMAGE_CUBIN, "", "this is no cubin"),
        text_image(GANTRY_IMAGE_FATBIN, "", "nor is this a fatbin"),
        ptx_image(newer, 75, 0),
        ptx_image(newer, 75, 990),
        ptx_image(broken, 75, 63),
        ptx_image(kernels_ptx, bench->info.arch_number + 1, 63),
        text_image(GANTRY_IMAGE_SPIRV, "", ""),
    };
    struct gantry_drv_kernel *kernel;
    struct gantry_backend_kernel_info info;

    images[1].arch = 75;
    CHECK(create(bench, "affine", images + 1, 7, &kernel, &info) == GANTRY_E_NO_IMAGE);
    printf("  %s\n", last_error());
    CHECK(strstr(last_error(), bench->info.arch) && strstr(last_error(), bench->info.name));
    CHECK(strstr(last_error(), bench->info.driver_version) && strstr(last_error(), "spirv"));
    CHECK(create(bench, "affine", images, 0, &kernel, &info) == GANTRY_E_NO_IMAGE);
    CHECK(create(bench, "absent", images, 1, &kernel, &info) == GANTRY_E_NO_IMAGE);
    CHECK(strstr(last_error(), "no entry absent"));
    CHECK_OK(create(bench, "affine", images, 8, &kernel, &info));
    CHECK(strcmp(info.image, "ptx compute_75 (.version 6.3)") == 0);
    run_and_destroy(bench, kernel);
}

/* An image of a package that lacks an entry speaks for all of them; one of a user's own does not.
 */
static void test_missing_entry(struct bench *bench)
{
    struct gantry_kernel_source source = {.name = "affine",
                                          .args_size = sizeof(struct affine_args)};
    struct gantry_backend_image images[] = {ptx_image(kernels_ptx, 75, 63),
                                            ptx_image(chained_ptx, 75, 63)};
    struct gantry_backend_kernel_params params = {.source = &source,
                                                  .entry = GANTRY_ENTRY_CHAINED,
                                                  .symbol = "affine" GANTRY_CHAINED_SUFFIX,
                                                  .block = {THREADS, 1, 1},
                                                  .images = images,
                                                  .image_count = 2};
    struct gantry_drv_kernel *kernel;
    struct gantry_backend_kernel_info info;
    const char *found;

    CHECK_OK(bench->ops->kernel_create(bench->device, &params, &kernel, &info));
    bench->ops->kernel_destroy(bench->device, kernel);
    images[0].packaged = images[1].packaged = true;
    CHECK(bench->ops->kernel_create(bench->device, &params, &kernel, &info) == GANTRY_E_NO_IMAGE);
    found = strstr(last_error(), "no entry affine_chained");
    CHECK(found && !strstr(found + 1, "ptx compute_75"));
}

/* C13: the last way. The compiler's log is in the sentence; without NVRTC that is. */
static void test_source(struct bench *bench)
{
    struct gantry_backend_image images[] = {
        text_image(GANTRY_IMAGE_SOURCE, "affine.cu", affine_source),
        text_image(GANTRY_IMAGE_SOURCE, "affine.h", affine_header),
    };
    struct gantry_backend_image broken = text_image(GANTRY_IMAGE_SOURCE, "bad.cu", "int f( {");
    struct gantry_drv_kernel *kernel;
    struct gantry_backend_kernel_info info;
    enum gantry_status status;

    CHECK(create(bench, "affine", &broken, 1, &kernel, &info) == GANTRY_E_NO_IMAGE);
    CHECK(strstr(last_error(), "source: "));
    status = create(bench, "affine", images, 2, &kernel, &info);
    if (status == GANTRY_E_NO_IMAGE && (strstr(last_error(), "NVRTC is not installed") ||
                                        strstr(last_error(), "is too new for a driver"))) {
        printf("  source not tried: %s\n", last_error());
        return;
    }
    CHECK_OK(status);
    printf("  %s\n", info.image);
    CHECK(strstr(info.image, "source, by NVRTC") && !info.waits);
    run_and_destroy(bench, kernel);
}

/* Only what gantry compile made is known to wait. */
static void test_waits(struct bench *bench)
{
    struct gantry_backend_image image = ptx_image(early_start_ptx, 90, 78);
    struct gantry_drv_kernel *kernel;
    struct gantry_backend_kernel_info info;

    if (bench->info.arch_number < 90 || bench->driver < 1108) {
        printf("  images that wait need sm_90 and CUDA 11.8: not tried\n");
        return;
    }
    CHECK_OK(create(bench, "affine", &image, 1, &kernel, &info));
    CHECK(!info.waits);
    run_and_destroy(bench, kernel);
    image.packaged = true;
    CHECK_OK(create(bench, "affine", &image, 1, &kernel, &info));
    CHECK(info.waits);
    run_and_destroy(bench, kernel);
    image = ptx_image(kernels_ptx, 75, 63);
    image.packaged = true;
    CHECK_OK(create(bench, "affine", &image, 1, &kernel, &info));
    CHECK(!info.waits);
    run_and_destroy(bench, kernel);
}

/* y backwards with `words` words of shared memory per thread. */
static void run_reverse(struct bench *bench, struct gantry_drv_kernel *kernel, uint32_t shared)
{
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_READBACK, THREADS * 4);
    struct gantry_op op = launch_op(kernel, 1, THREADS, &y.address, sizeof(y.address));

    op.launch.shared_bytes = shared;
    for (uint32_t i = 0; i < THREADS; i++)
        ((uint32_t *)y.host)[i] = i;
    run_ops(bench, &op, 1);
    for (uint32_t i = 0; i < THREADS; i++)
        CHECK_EQUAL(((uint32_t *)y.host)[i], THREADS - 1 - i);
    bench->ops->memory_free(bench->device, &y);
}

/* C18: more than 48 KiB is allowed, and a later small kernel does not take it back. */
static void test_shared(struct bench *bench)
{
    uint32_t most = bench->info.limits.max_shared_bytes / THREADS;
    struct gantry_kernel_source source = {.name = "reverse",
                                          .args_size = sizeof(uint64_t),
                                          .shared_per_thread = most + 4};
    struct gantry_backend_image image = ptx_image(kernels_ptx, 75, 63);
    struct gantry_backend_kernel_params params = {
        .source = &source,
        .symbol = "reverse",
        .block = {THREADS, 1, 1},
        .images = &image,
        .image_count = 1,
    };
    struct gantry_backend_kernel_info info;
    struct gantry_drv_kernel *kernel, *big, *small;
    uint32_t threads;

    CHECK(bench->ops->kernel_create(bench->device, &params, &kernel, &info) == GANTRY_E_LIMIT);
    CHECK_OK(bench->ops->kernel_block(bench->device, &params, &threads));
    CHECK(threads > 0 && threads * (most + 4) <= bench->info.limits.max_shared_bytes);
    big = make_kernel(bench, "reverse", THREADS, most);
    small = make_kernel(bench, "reverse", THREADS, 4);
    run_reverse(bench, big, most * THREADS);
    run_reverse(bench, small, 4 * THREADS);
    run_reverse(bench, big, most * THREADS);
    bench->ops->kernel_destroy(bench->device, small);
    bench->ops->kernel_destroy(bench->device, big);
}

static void test_block(struct bench *bench)
{
    struct gantry_kernel_source source = {.name = "affine"};
    struct gantry_backend_image image = ptx_image(kernels_ptx, 75, 63);
    struct gantry_backend_kernel_params params = {
        .source = &source,
        .symbol = "affine",
        .block = {1, 1, 1},
        .images = &image,
        .image_count = 1,
    };
    uint32_t threads;

    CHECK_OK(bench->ops->kernel_block(bench->device, &params, &threads));
    printf("  proposed block of affine: %u\n", threads);
    CHECK_EQUAL(threads, 256);
}

/* A kernel without parameters, and a user's kernel with several, stated as one struct: that ends in
 * padding, which the driver must not see. */
static void test_parameters(struct bench *bench)
{
    struct gantry_drv_memory y = allocate(bench, GANTRY_MEMORY_READBACK, 4);
    struct gantry_drv_kernel *several, *nothing = make_kernel(bench, "nothing", THREADS, 0);
    struct several_args args = {y.address, 200, 30000, 4000000};
    struct gantry_op op = launch_op(nothing, 1, 1, NULL, 0);

    run_ops(bench, &op, 1);
    bench->ops->kernel_destroy(bench->device, nothing);
    if (bench->driver >= 1204) {
        several = make_kernel(bench, "several", THREADS, 0);
        op = launch_op(several, 1, 1, &args, sizeof(args));
        run_ops(bench, &op, 1);
        CHECK_EQUAL(*(uint32_t *)y.host, 4030200);
        bench->ops->kernel_destroy(bench->device, several);
    }
    bench->ops->memory_free(bench->device, &y);
}

/* What is stated of the arguments must fit the image. */
static void test_layout(struct bench *bench)
{
    struct gantry_kernel_source wrong = {.name = "affine", .args_size = 4};
    struct gantry_backend_image image = ptx_image(kernels_ptx, 75, 63);
    struct gantry_backend_kernel_params params = {
        .source = &wrong,
        .symbol = "affine",
        .block = {THREADS, 1, 1},
        .images = &image,
        .image_count = 1,
    };
    struct gantry_backend_kernel_info info;
    struct gantry_drv_kernel *kernel;

    if (bench->driver < 1204) {
        printf("  the driver does not tell how long parameters are: layouts not compared\n");
        return;
    }
    CHECK(bench->ops->kernel_create(bench->device, &params, &kernel, &info) == GANTRY_E_LAYOUT);
    wrong.args_size = sizeof(struct affine_args) + 16;
    CHECK(bench->ops->kernel_create(bench->device, &params, &kernel, &info) == GANTRY_E_LAYOUT);
}

/* Every allocation of making a kernel fails in turn. */
static void test_no_host_memory(struct bench *bench)
{
    struct gantry_backend_image image = ptx_image(kernels_ptx, 75, 63);
    struct gantry_drv_kernel *kernel;
    struct gantry_backend_kernel_info info;
    enum gantry_status status = GANTRY_E_OUT_OF_HOST_MEMORY;

    for (long n = 1; status != GANTRY_OK; n++) {
        long before = allocations();

        fail_allocation(n);
        status = create(bench, "affine", &image, 1, &kernel, &info);
        fail_allocation(0);
        CHECK(status == GANTRY_OK || status == GANTRY_E_OUT_OF_HOST_MEMORY);
        CHECK(status == GANTRY_OK || allocations() <= before);
    }
    run_and_destroy(bench, kernel);
}

void test_kernel(struct bench *bench)
{
    test_no_host_memory(bench);
    test_refusals(bench);
    test_missing_entry(bench);
    test_source(bench);
    test_waits(bench);
    test_shared(bench);
    test_block(bench);
    test_parameters(bench);
    test_layout(bench);
}
