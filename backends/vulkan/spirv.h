/* What must hold before a driver may see a SPIR-V module: drivers trust what they get. */
#ifndef GANTRY_VULKAN_SPIRV_H
#define GANTRY_VULKAN_SPIRV_H

#include "driver.h"

/* True when `data` is a module of a version that Vulkan 1.2 takes, with a compute entry "main",
 * that declares only capabilities which the opened device has. Otherwise `reason` says what is
 * wrong. The function bodies are not looked at: spirv-val did that when the package was made. */
bool spirv_check(const struct physical *physical, const void *data, size_t size, char *reason,
                 size_t reason_size);

#endif
