/* Kernels: made for a block size, which is chosen here, and described. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "grid.h"
#include "wish.h"
#include "retire.h"
#include "status.h"

/* ---- Finding and checking ------------------------------------------------------------------ */

static enum gantry_status not_found(const struct gantry_module *module, const char *name)
{
    struct text names = {0};

    for (uint32_t i = 0; i < module->package->kernel_count; i++)
        text_add(&names, "%s%s", i ? ", " : "", module->package->kernels[i].name);
    fail(GANTRY_E_NOT_FOUND, "module \"%s\" has no kernel \"%s\"; it has %s", module->label, name,
         text_get(&names));
    text_free(&names);
    return GANTRY_E_NOT_FOUND;
}

static enum gantry_status find(struct gantry_kernel *kernel, const char *name)
{
    const struct gantry_package *package = kernel->module->package;

    for (uint32_t i = 0; i < package->kernel_count; i++) {
        if (strcmp(package->kernels[i].name, name) == 0) {
            kernel->source = &package->kernels[i];
            kernel->index = i;
            return GANTRY_OK;
        }
    }
    return not_found(kernel->module, name);
}

static enum gantry_status check_features(const struct gantry_kernel *kernel)
{
    const struct gantry_device *device = kernel->object.device;
    uint32_t missing = kernel->source->features & ~device->info.features;
    struct text text = {0};

    if (!missing)
        return GANTRY_OK;
    add_features(&text, missing);
    fail(GANTRY_E_UNSUPPORTED, "kernel %s needs %s, which device \"%s\" lacks through %s",
         kernel->source->name, text_get(&text), device->label, device->backend);
    text_free(&text);
    return GANTRY_E_UNSUPPORTED;
}

static bool has_folded(const struct gantry_kernel *kernel)
{
    const struct gantry_package *package = kernel->module->package;

    for (uint32_t i = 0; i < package->image_count; i++) {
        enum gantry_entry entry = package->images[i].image.entry;

        if (entry == GANTRY_ENTRY_FOLDED || entry == GANTRY_ENTRY_ALL)
            return true;
    }
    return false;
}

static enum gantry_status check_args(const struct gantry_kernel *kernel)
{
    const struct gantry_kernel_source *source = kernel->source;
    const struct gantry_limits *limits = &kernel->object.device->info.limits;

    if (source->args_size > limits->max_args_bytes)
        return fail(GANTRY_E_LIMIT,
                    "kernel %s: its arguments are %u bytes, device \"%s\" takes %u; pass large "
                    "ones through a buffer",
                    source->name, source->args_size, kernel->object.device->label,
                    limits->max_args_bytes);
    if (entry_first(kernel) == GANTRY_ENTRY_FOLDED && !has_folded(kernel))
        return fail(GANTRY_E_LIMIT,
                    "kernel %s: its arguments are %u bytes, device \"%s\" takes %u inline; more "
                    "need a package made by gantry compile",
                    source->name, source->args_size, kernel->object.device->label,
                    limits->inline_args_bytes);
    return GANTRY_OK;
}

static enum gantry_status check_source(const struct gantry_kernel *kernel,
                                       const struct gantry_kernel_params *params)
{
    const struct gantry_kernel_source *source = kernel->source;
    enum gantry_status status;

    if (params->layout_hash && params->layout_hash != source->layout_hash)
        return fail(GANTRY_E_LAYOUT,
                    "kernel %s: the program's header was made for another layout of %s (%016" PRIx64
                    ") than module \"%s\" has (%016" PRIx64 "); compile both from one .gk file",
                    source->name, source->args_name, params->layout_hash, kernel->module->label,
                    source->layout_hash);
    status = check_features(kernel);
    return status == GANTRY_OK ? check_args(kernel) : status;
}

/* ---- Making -------------------------------------------------------------------------------- */

static void destroy_entries(struct gantry_kernel *kernel)
{
    struct gantry_device *device = kernel->object.device;

    if (kernel->direct)
        device->ops->kernel_destroy(device->drv, kernel->direct);
    if (kernel->folded.drv)
        device->ops->kernel_destroy(device->drv, kernel->folded.drv);
    if (kernel->chained.drv)
        device->ops->kernel_destroy(device->drv, kernel->chained.drv);
    kernel->direct = NULL;
    kernel->folded = kernel->chained = (struct kernel_entry){0};
}

static enum gantry_status make_entry(struct gantry_kernel *kernel)
{
    enum gantry_status status;

    if (entry_first(kernel) == GANTRY_ENTRY_DIRECT)
        return entry_make(kernel, GANTRY_ENTRY_DIRECT, &kernel->direct, &kernel->info);
    status = entry_make(kernel, GANTRY_ENTRY_FOLDED, &kernel->folded.drv, &kernel->folded.info);
    kernel->info = kernel->folded.info;
    return status;
}

static enum gantry_status make_with(struct gantry_kernel *kernel, const struct wish *wish)
{
    kernel->block = wish->block;
    kernel->threads = block_threads(wish->block);
    kernel->shared_bytes = (uint32_t)(kernel->threads * kernel->source->shared_per_thread);
    return make_entry(kernel);
}

/* Only the made kernel tells how many threads of it the device really takes, as registers permit.
 * When that is less than what was chosen, a demand fails and anything else is chosen anew, once. */
static enum gantry_status make_for_block(struct gantry_kernel *kernel, struct gantry_size asked)
{
    struct block_rules rules = {
        .source = kernel->source,
        .limits = &kernel->object.device->info.limits,
    };
    struct wish wish;
    char why[BLOCK_WHY_SIZE];
    enum gantry_status status = wish_choose(kernel, &rules, asked, &wish);

    if (status == GANTRY_OK)
        status = make_with(kernel, &wish);
    rules.max_threads = kernel->info.max_threads;
    if (status == GANTRY_OK && !block_allowed(&rules, wish.block, why)) {
        destroy_entries(kernel);
        status = wish_again(kernel, &rules, why, &wish);
        if (status == GANTRY_OK)
            status = make_with(kernel, &wish);
    }
    if (status != GANTRY_OK)
        return status;
    grid_find_plain(kernel);
    kernel->block_origin = strdup(wish.origin);
    return kernel->block_origin ? GANTRY_OK
                                : fail(GANTRY_E_OUT_OF_HOST_MEMORY, "kernel %s: out of host memory",
                                       kernel->source->name);
}

enum gantry_status kernel_make(struct gantry_module *module, const char *name,
                               const struct gantry_kernel_params *params,
                               const struct package_image *only, struct gantry_kernel **out)
{
    struct gantry_kernel *kernel = calloc(1, sizeof(*kernel));
    enum gantry_status status;

    if (!kernel)
        return fail(GANTRY_E_OUT_OF_HOST_MEMORY, "no host memory for a kernel object");
    kernel->object.device = module->object.device;
    kernel->module = module;
    kernel->refs = 1;
    kernel->only = only;
    status = find(kernel, name);
    if (status == GANTRY_OK)
        status = check_source(kernel, params);
    if (status == GANTRY_OK)
        status = make_for_block(kernel, params->block);
    if (status != GANTRY_OK) {
        kernel_free(kernel);
        return status;
    }
    module_ref(module);
    object_link(&kernel->object, module->object.device, OBJECT_KERNEL);
    *out = kernel;
    return GANTRY_OK;
}

enum gantry_status gantry_kernel_create(struct gantry_module *module, const char *name,
                                        const struct gantry_kernel_params *params,
                                        struct gantry_kernel **kernel)
{
    static const struct gantry_kernel_params defaults;
    enum gantry_status status;

    if (kernel)
        *kernel = NULL;
    if (!module || !name || !kernel)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_kernel_create: %s is NULL",
                    !module ? "the module"
                    : !name ? "the name"
                            : "the handle's address");
    status = device_usable(module->object.device, "gantry_kernel_create");
    if (status != GANTRY_OK)
        return status;
    status = kernel_make(module, name, params ? params : &defaults, NULL, kernel);
    if (status != GANTRY_OK)
        fail_context("gantry_kernel_create");
    return status;
}

/* ---- The other entries --------------------------------------------------------------------- */

static enum gantry_status make_fitting(struct gantry_kernel *kernel, enum gantry_entry which,
                                       struct kernel_entry *made)
{
    struct gantry_device *device = kernel->object.device;
    enum gantry_status status = entry_make(kernel, which, &made->drv, &made->info);

    if (status != GANTRY_OK || !made->info.max_threads || kernel->threads <= made->info.max_threads)
        return status;
    device->ops->kernel_destroy(device->drv, made->drv);
    made->drv = NULL;
    return fail(GANTRY_E_LIMIT,
                "kernel %s: its %s entry takes blocks of %u threads at most, its block has %" PRIu64
                "; ask for a smaller block",
                kernel->source->name, which == GANTRY_ENTRY_FOLDED ? "folded" : "chained",
                made->info.max_threads, kernel->threads);
}

/* Made without the lock, because compilers take long; of two threads that do so, one's entry stays.
 */
static enum gantry_status get_entry(struct gantry_kernel *kernel, enum gantry_entry which,
                                    struct kernel_entry *place)
{
    struct gantry_device *device = kernel->object.device;
    struct kernel_entry made = {0};
    enum gantry_status status;
    bool done;

    pthread_mutex_lock(&device->lock);
    done = place->drv != NULL;
    pthread_mutex_unlock(&device->lock);
    if (done)
        return GANTRY_OK;
    status = make_fitting(kernel, which, &made);
    if (status != GANTRY_OK)
        return status;
    pthread_mutex_lock(&device->lock);
    done = place->drv != NULL;
    if (!done)
        *place = made;
    pthread_mutex_unlock(&device->lock);
    if (done)
        device->ops->kernel_destroy(device->drv, made.drv);
    return GANTRY_OK;
}

static bool is_fatal(enum gantry_status status)
{
    return status == GANTRY_E_OUT_OF_HOST_MEMORY || status == GANTRY_E_OUT_OF_MEMORY ||
           status == GANTRY_E_DEVICE_LOST;
}

static enum gantry_status try_entry(struct gantry_kernel *kernel, enum gantry_entry which,
                                    struct kernel_entry *place, const struct kernel_entry **entry)
{
    struct gantry_device *device = kernel->object.device;
    enum gantry_status status;
    bool missing;
    char *sentence;

    pthread_mutex_lock(&device->lock);
    *entry = place->drv ? place : NULL;
    missing = place->missing;
    pthread_mutex_unlock(&device->lock);
    if (*entry || missing)
        return GANTRY_OK;
    /* A call that succeeds without the entry must leave the thread's sentence as it was. */
    sentence = strdup(gantry_last_error());
    status = get_entry(kernel, which, place);
    if (status == GANTRY_OK) {
        *entry = place;
    } else if (!is_fatal(status)) {
        pthread_mutex_lock(&device->lock);
        place->missing = true;
        pthread_mutex_unlock(&device->lock);
        status = fail(GANTRY_OK, "%s", sentence ? sentence : "");
    }
    free(sentence);
    return status;
}

enum gantry_status kernel_folded(struct gantry_kernel *kernel, const struct kernel_entry **folded)
{
    *folded = &kernel->folded;
    return get_entry(kernel, GANTRY_ENTRY_FOLDED, &kernel->folded);
}

enum gantry_status kernel_foldable(struct gantry_kernel *kernel, const struct kernel_entry **entry)
{
    return try_entry(kernel, GANTRY_ENTRY_FOLDED, &kernel->folded, entry);
}

enum gantry_status kernel_chained(struct gantry_kernel *kernel, const struct kernel_entry **entry)
{
    uint64_t shared = (uint64_t)kernel->info.shared_bytes + GANTRY_CHAINED_SHARED;

    *entry = NULL;
    if (shared > kernel->object.device->info.limits.max_shared_bytes)
        return GANTRY_OK;
    /* Threads that left would pair the barrier between the steps with one inside the body. */
    if (kernel->source->early_return)
        return GANTRY_OK;
    return try_entry(kernel, GANTRY_ENTRY_CHAINED, &kernel->chained, entry);
}

/* ---- References ---------------------------------------------------------------------------- */

void kernel_free(struct gantry_kernel *kernel)
{
    destroy_entries(kernel);
    free(kernel->block_origin);
    free(kernel);
}

void kernel_release(struct gantry_kernel *kernel)
{
    struct gantry_module *module = kernel->module;

    kernel_free(kernel);
    module_unref(module);
}

void kernel_ref(struct gantry_kernel *kernel)
{
    struct gantry_device *device = kernel->object.device;

    pthread_mutex_lock(&device->lock);
    kernel->refs++;
    pthread_mutex_unlock(&device->lock);
}

void kernel_unref(struct gantry_kernel *kernel)
{
    struct gantry_device *device = kernel->object.device;
    bool last;

    pthread_mutex_lock(&device->lock);
    last = --kernel->refs == 0;
    pthread_mutex_unlock(&device->lock);
    if (!last)
        return;
    object_unlink(&kernel->object);
    retire(&kernel->object);
}

void gantry_kernel_destroy(struct gantry_kernel **handle)
{
    struct gantry_kernel *kernel = handle ? *handle : NULL;

    if (!kernel)
        return;
    *handle = NULL;
    if (!device_forked(kernel->object.device))
        kernel_unref(kernel);
}

/* ---- Describing ---------------------------------------------------------------------------- */

static double occupancy(const struct gantry_kernel *kernel)
{
    uint32_t most = kernel->object.device->info.limits.threads_per_unit;

    return most ? (double)(kernel->info.blocks_per_unit * kernel->threads) / most : 0;
}

enum gantry_status gantry_kernel_describe(struct gantry_kernel *kernel,
                                          struct gantry_kernel_info *info)
{
    const struct gantry_backend_kernel_info *known;

    if (!kernel || !info)
        return fail(GANTRY_E_INVALID_ARGUMENT, "gantry_kernel_describe: %s is NULL",
                    kernel ? "info" : "the kernel");
    if (device_forked(kernel->object.device))
        return device_usable(kernel->object.device, "gantry_kernel_describe");
    known = &kernel->info;
    *info = (struct gantry_kernel_info){
        .name = kernel->source->name,
        .block = kernel->block,
        .block_origin = kernel->block_origin,
        .image = known->image,
        .max_threads = known->max_threads
                           ? known->max_threads
                           : kernel->object.device->info.limits.max_threads_per_block,
        .registers = known->registers,
        .spill_bytes = known->spill_bytes,
        .shared_bytes = known->shared_bytes,
        .blocks_per_unit = known->blocks_per_unit,
        .occupancy = occupancy(kernel),
        .limited_by = known->limited_by,
    };
    return GANTRY_OK;
}
