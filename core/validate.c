#include "validate.h"

#include <inttypes.h>
#include <stdio.h>

#include "addresses.h"
#include "buffer.h"
#include "grid.h"
#include "reach.h"
#include "status.h"

/* ---- One launch ----------------------------------------------------------------------------- */

/* With the device's lock held. Arguments of a program's launches tend to name few buffers, so the
 * latest range is tried before the search; it starts as one that holds nothing. */
static bool is_good(const struct addresses *addresses, const struct reach *reach,
                    const struct address_range **latest)
{
    const struct address_range *range = *latest;

    if (reach->bytes == 0)
        return true;
    if (reach->address == 0)
        return reach->field->may_be_null;
    if (reach->address < range->first || reach->address >= range->end)
        range = addresses_find(addresses, reach->address);
    if (!range)
        return false;
    *latest = range;
    return reach->bytes <= range->end - reach->address;
}

/* With the device's lock held: whether all pointers are good; else *bad is the first that is not.
 */
static bool check_pointers(const struct addresses *addresses,
                           const struct gantry_kernel_source *source, const uint8_t *args,
                           const struct address_range **latest, struct reach *bad)
{
    for (uint32_t i = 0; i < source->field_count; i++)
        if (reach_read(source, i, args, bad) && !is_good(addresses, bad, latest))
            return false;
    return true;
}

/* ---- What is wrong -------------------------------------------------------------------------- */

static void explain_null(const struct reach *reach, char *text, size_t size)
{
    snprintf(text, size,
             "is NULL, which kernels allow by MAY_BE_NULL(%s); give it the address of a buffer",
             reach->field->name);
}

/* With the device's lock held. */
static void explain_short(const struct gantry_kernel_source *source, const struct reach *reach,
                          const struct address_range *range, char *text, size_t size)
{
    char stated[300];

    reach_describe(source, reach, stated, sizeof(stated));
    snprintf(text, size,
             "points to byte %" PRIu64 " of buffer \"%s\" (%" PRIu64 " bytes from 0x%" PRIx64
             "), which leaves %" PRIu64 " bytes; the kernel reaches %s%s",
             reach->address - range->first, range->buffer->label, range->end - range->first,
             range->first, range->end - reach->address, reach->stated ? "" : "at least ", stated);
}

static enum gantry_status refuse(struct gantry_device *device,
                                 const struct gantry_kernel_source *source,
                                 const struct reach *reach, const char *launch)
{
    const struct address_range *range;
    char text[700];

    pthread_mutex_lock(&device->lock);
    range = addresses_find(&device->addresses, reach->address);
    if (reach->address && range)
        explain_short(source, reach, range, text, sizeof(text));
    pthread_mutex_unlock(&device->lock);
    if (reach->address == 0)
        explain_null(reach, text, sizeof(text));
    else if (!range)
        addresses_explain(device, reach->address, text, sizeof(text));
    return fail(GANTRY_E_INVALID_ARGUMENT, "%s of kernel %s: argument %s, 0x%" PRIx64 ", %s",
                launch, source->name, reach->field->name, reach->address, text);
}

/* ---- Lists ---------------------------------------------------------------------------------- */

/* With the device's lock held: the first launch with a bad pointer, NULL: there is none. */
static const struct command *find_bad(const struct gantry_list *list, struct reach *bad)
{
    static const struct address_range nothing;
    const struct address_range *latest = &nothing;

    for (uint32_t i = 0; i < list->command_count; i++) {
        const struct command *command = &list->commands[i];
        const struct command_launch *launch = &command->launch;
        const uint8_t *args = command->kind == COMMAND_LAUNCH ? patch_args(list, launch) : NULL;

        if (args && !check_pointers(&list->object.device->addresses, launch->kernel->source, args,
                                    &latest, bad))
            return command;
    }
    return NULL;
}

static enum gantry_status refuse_list(const struct gantry_list *list, const struct command *command,
                                      const struct reach *bad)
{
    const char *label =
        command->label == NO_LABEL ? "" : (const char *)list->bytes.data + command->label;
    char launch[300];

    snprintf(launch, sizeof(launch), "gantry_queue_submit: list \"%.100s\": launch %u%s%.100s%s",
             list->label, command->id, label[0] ? " \"" : "", label, label[0] ? "\"" : "");
    return refuse(list->object.device, command->launch.kernel->source, bad, launch);
}

enum gantry_status validate_list(struct gantry_list *list)
{
    struct gantry_device *device = list->object.device;
    const struct command *command = NULL;
    struct reach bad;
    uint64_t now;

    pthread_mutex_lock(&device->lock);
    now = device->addresses.destroyed + 1;
    if (list->state != LIST_FINISHED || list->validated != now)
        command = find_bad(list, &bad);
    pthread_mutex_unlock(&device->lock);
    if (command)
        return refuse_list(list, command, &bad);
    races_look(list);
    list->validated = now;
    return GANTRY_OK;
}

/* ---- Streamed launches ---------------------------------------------------------------------- */

enum gantry_status validate_launch(struct gantry_device *device, const struct gantry_kernel *kernel,
                                   struct gantry_size threads, const void *args, size_t size,
                                   const char *what)
{
    static const struct address_range nothing;
    const struct address_range *latest = &nothing;
    struct gantry_size blocks;
    struct reach bad;
    bool good;

    if (!kernel || kernel->object.device != device || !args || size != kernel->source->args_size ||
        grid_of(kernel, threads, what, &blocks) != GANTRY_OK || !blocks.x || !blocks.y || !blocks.z)
        return GANTRY_OK;
    pthread_mutex_lock(&device->lock);
    good = check_pointers(&device->addresses, kernel->source, args, &latest, &bad);
    pthread_mutex_unlock(&device->lock);
    return good ? GANTRY_OK : refuse(device, kernel->source, &bad, what);
}
