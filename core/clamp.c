/* What the limits of a device make of the configuration's values. Each function says where the same
 * is decided when the value is used. */
#include "clamp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "block.h"
#include "memory.h"
#include "options.h"

/* Room for the longest text of an option: a line of a file. */
enum { VALUE_SIZE = 512 };

static uint32_t or_any(uint32_t limit)
{
    return limit ? limit : UINT32_MAX;
}

/* wish.c: a block that the device can't have is reported and not used. */
static bool clamp_block(const struct view *view, const struct option_value *value, char *text)
{
    static const struct gantry_kernel_source any = {.dimensions = 3};
    struct gantry_limits limits = view->info.limits;
    const struct block_rules rules = {.source = &any, .limits = &limits};
    char why[BLOCK_WHY_SIZE];

    limits.max_threads_per_block = or_any(limits.max_threads_per_block);
    limits.max_block.x = or_any(limits.max_block.x);
    limits.max_block.y = or_any(limits.max_block.y);
    limits.max_block.z = or_any(limits.max_block.z);
    if (value->word >= 0 || block_allowed(&rules, block_complete(&rules, value->block, false), why))
        return false;
    snprintf(text, CLAMP_TEXT_SIZE, "auto: it %s", why);
    return true;
}

/* grid.c: a grid has at most so many blocks along x, and all of them where nobody knows how many
 * compute units there are. */
static bool clamp_blocks_per_cu(const struct view *view, const struct option_value *value,
                                char *text)
{
    const struct gantry_limits *limits = &view->info.limits;

    if (value->word >= 0)
        return false;
    if (limits->compute_units == 0)
        snprintf(text, CLAMP_TEXT_SIZE,
                 "no limit: nobody tells how many compute units the device has");
    else if (limits->max_blocks.x &&
             (uint64_t)value->whole * limits->compute_units > limits->max_blocks.x)
        snprintf(text, CLAMP_TEXT_SIZE, "%u blocks in all: the device takes no more along x",
                 limits->max_blocks.x);
    else
        return false;
    return true;
}

/* The plugins refuse to open a device with a family that it does not have; those without families
 * don't look at the value. */
static bool clamp_family(const struct view *view, const struct option_value *value, char *text)
{
    uint32_t count = view->info.family_count;

    if (view->described || (value->word >= 0 && count > 0) || (value->word == 0))
        return false;
    if (count == 0)
        snprintf(text, CLAMP_TEXT_SIZE, "not used: %s has no queue families", view->plugin->name);
    else if (value->whole >= count)
        snprintf(text, CLAMP_TEXT_SIZE,
                 "refused, so that the device can't be opened: its last queue family is %u",
                 count - 1);
    else
        return false;
    return true;
}

/* list.c */
static bool clamp_programmatic(const struct view *view, const struct option_value *value,
                               char *text)
{
    if (!value->on || view->described || view->info.programmatic)
        return false;
    snprintf(text, CLAMP_TEXT_SIZE, "off: the device or its driver has no early starts");
    return true;
}

/* fold.c */
static bool clamp_fold(const struct view *view, const struct option_value *value, char *text)
{
    if (!value->on || view->info.type != GANTRY_DEVICE_CPU)
        return false;
    snprintf(text, CLAMP_TEXT_SIZE,
             "only side by side: drivers of CPU devices may end long chains early");
    return true;
}

/* memory.c */
static bool clamp_pool_block(const struct view *view, const struct option_value *value, char *text)
{
    struct gantry_backend_device_info info = view->info;
    uint64_t wanted = (uint64_t)value->whole << 20, size;

    if (info.limits.max_buffer_size == 0)
        info.limits.max_buffer_size = UINT64_MAX;
    size = memory_block_size(&info, value->whole);
    if (size > wanted)
        snprintf(text, CLAMP_TEXT_SIZE,
                 "%" PRIu64 " MiB: the driver allows only %u blocks of memory at once", size >> 20,
                 info.max_memory_blocks);
    else if (size < wanted)
        snprintf(text, CLAMP_TEXT_SIZE,
                 "%" PRIu64 " MiB: no more for a device with %" PRIu64 " MiB of memory", size >> 20,
                 info.limits.memory_size >> 20);
    return size != wanted;
}

uint32_t clamp_staging_mib(const struct gantry_limits *limits, uint32_t staging_mib)
{
    uint64_t most = limits->max_buffer_size >> 20;

    return most && staging_mib > most ? (uint32_t)most : staging_mib;
}

/* device.c */
static bool clamp_staging(const struct view *view, const struct option_value *value, char *text)
{
    uint32_t size = clamp_staging_mib(&view->info.limits, value->whole);

    snprintf(text, CLAMP_TEXT_SIZE, "%u MiB: a buffer of the device has no more", size);
    return size != value->whole;
}

static bool (*const clamps[OPTION_COUNT])(const struct view *, const struct option_value *,
                                          char *) = {
    [OPTION_BLOCK_SIZE] = clamp_block,          [OPTION_BLOCKS_PER_CU] = clamp_blocks_per_cu,
    [OPTION_QUEUE_FAMILY] = clamp_family,       [OPTION_TRANSFER_FAMILY] = clamp_family,
    [OPTION_POOL_BLOCK_MIB] = clamp_pool_block, [OPTION_STAGING_MIB] = clamp_staging,
    [OPTION_PROGRAMMATIC] = clamp_programmatic, [OPTION_FOLD] = clamp_fold,
};

/* The option of "chains" and of "block_size.KERNEL". */
static enum option_id option_of_key(const char *key)
{
    char name[64];

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(key, "."), key);
    return option_find(name);
}

bool clamp_value(const struct view *view, const char *key, const char *value,
                 char text[CLAMP_TEXT_SIZE])
{
    enum option_id option = option_of_key(key);
    struct option_value parsed;
    char copy[VALUE_SIZE], why[OPTION_WHY_SIZE];

    if (option == OPTION_COUNT || !clamps[option] || strlen(value) >= sizeof(copy))
        return false;
    strcpy(copy, value);
    return option_parse(option, copy, &parsed, why) && clamps[option](view, &parsed, text);
}
