#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

#define NONE UINT32_MAX

/* A family that draws or computes can also copy, whether it says so or not. */
#define ANY_TRANSFER (VK_QUEUE_TRANSFER_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT)

/* ---- Choice --------------------------------------------------------------------------------- */

/* The first family that has all of `with` and none of `without`. */
static uint32_t find(const struct physical *physical, VkQueueFlags with, VkQueueFlags without)
{
    for (uint32_t i = 0; i < physical->info.family_count; i++) {
        const VkQueueFamilyProperties *family = &physical->families[i];
        if (family->queueCount > 0 && (family->queueFlags & with) == with &&
            !(family->queueFlags & without))
            return i;
    }
    return NONE;
}

static uint32_t find_compute(const struct physical *physical)
{
    uint32_t index = find(physical, VK_QUEUE_COMPUTE_BIT, VK_QUEUE_GRAPHICS_BIT);

    return index != NONE ? index : find(physical, VK_QUEUE_COMPUTE_BIT, 0);
}

/* Copy engines have a family that does nothing else. Those of video engines may copy too, and are
 * no faster at it than the compute family. */
static uint32_t find_transfer(const struct physical *physical, uint32_t compute)
{
    VkQueueFlags harmless = VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    uint32_t index = find(physical, VK_QUEUE_TRANSFER_BIT, ~(VK_QUEUE_TRANSFER_BIT | harmless));

    return index != NONE ? index : compute;
}

static void describe_family(const VkQueueFamilyProperties *family, uint32_t index, char *text,
                            size_t size)
{
    static const struct {
        VkQueueFlags flag;
        const char *name;
    } names[] = {
        {VK_QUEUE_GRAPHICS_BIT, "graphics"},
        {VK_QUEUE_COMPUTE_BIT, "compute"},
        {ANY_TRANSFER, "transfer"},
    };
    size_t used = (size_t)snprintf(text, size, "%" PRIu32 " (", index);
    const char *separator = "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!(family->queueFlags & names[i].flag))
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", separator, names[i].name);
        separator = ", ";
    }
    snprintf(text + used, size - used, "%squeues: %" PRIu32 ")", *separator ? "; " : "",
             family->queueCount);
}

static enum gantry_status refuse(const struct gantry_backend_services *services,
                                 const struct physical *physical, const char *wish,
                                 const char *problem)
{
    char list[512] = "";
    char one[96];

    for (uint32_t i = 0; i < physical->info.family_count; i++) {
        size_t used = strlen(list);
        describe_family(&physical->families[i], i, one, sizeof(one));
        snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "", one);
    }
    return services->fail(services->context, GANTRY_E_CONFIG,
                          "queue family %s %s; the Vulkan device %s has the families %s", wish,
                          problem, physical->info.name, list);
}

enum gantry_status family_choose(const struct gantry_backend_services *services,
                                 const struct physical *physical, int32_t wish, uint32_t compute,
                                 uint32_t *index)
{
    bool for_transfer = compute != NONE;
    VkQueueFlags needed = for_transfer ? ANY_TRANSFER : VK_QUEUE_COMPUTE_BIT;
    char text[16];

    if (wish == GANTRY_FAMILY_AUTO)
        *index = for_transfer ? find_transfer(physical, compute) : find_compute(physical);
    else if (wish == GANTRY_FAMILY_COMPUTE)
        *index = find_compute(physical);
    else if (wish == GANTRY_FAMILY_GRAPHICS)
        *index = find(physical, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT, 0);
    else
        *index = (uint32_t)wish;

    if (*index == NONE && wish == GANTRY_FAMILY_GRAPHICS)
        return refuse(services, physical, "graphics", "was asked for and there is none");
    snprintf(text, sizeof(text), "%" PRId32, wish);
    if (*index >= physical->info.family_count)
        return refuse(services, physical, text, "does not exist");
    if (!(physical->families[*index].queueFlags & needed))
        return refuse(services, physical, text, for_transfer ? "can't transfer" : "can't compute");
    return GANTRY_OK;
}

/* ---- Slots ---------------------------------------------------------------------------------- */

/* With three VkQueues or more, the last is the urgent one and the one before it the patient one. */
static bool has_priorities(uint32_t slot_count)
{
    return slot_count >= 3;
}

float slot_priority(uint32_t slot_count, uint32_t i)
{
    if (has_priorities(slot_count) && i == slot_count - 1)
        return 1.0f;
    if (has_priorities(slot_count) && i == slot_count - 2)
        return 0.0f;
    return 0.5f;
}

struct slot *slot_take(struct gantry_drv_device *device, struct family *family, int priority)
{
    uint32_t count = family->slot_count;
    uint32_t first = 0;
    uint32_t end = count;
    struct slot *best;

    if (has_priorities(count)) {
        first = priority > 0 ? count - 1 : priority < 0 ? count - 2 : 0;
        end = priority == 0 ? count - 2 : first + 1;
    }
    pthread_mutex_lock(&device->lock);
    best = &family->slots[first];
    for (uint32_t i = first + 1; i < end; i++)
        if (family->slots[i].users < best->users)
            best = &family->slots[i];
    best->users++;
    pthread_mutex_unlock(&device->lock);
    return best;
}

void slot_return(struct gantry_drv_device *device, struct slot *slot)
{
    pthread_mutex_lock(&device->lock);
    slot->users--;
    pthread_mutex_unlock(&device->lock);
}
