/* Vulkan's entry points. Nothing links the loader: it is opened at run time, and volk's tables are
 * part of this plugin, hidden from the program's own.
 *
 * Calls on an instance or a physical device go through volk's globals (`vkCreateDevice`), calls on
 * a device or a queue only through the device's own table (`device->vk.vkQueueSubmit`): a table has
 * no dispatch in it, and two devices may have different drivers. */
#ifndef GANTRY_VULKAN_SYMBOLS_H
#define GANTRY_VULKAN_SYMBOLS_H

#include <volk.h>

#include <gantry/backend.h>

/* Opens the loader and resolves the calls that need no instance. GANTRY_E_NO_DEVICE, with what the
 * dynamic linker said, when the machine has none. */
enum gantry_status symbols_open(const struct gantry_backend_services *services);

/* Notes that drivers have been called in this process, where they have files, threads and locks:
 * symbols_open() fails in its forked children, which can't use these. */
void symbols_claim(void);

#endif
