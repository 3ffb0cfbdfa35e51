/* Plugins that core must refuse, each with the reason. tests/plugins/local.mk builds this file once
 * for each name in it. */
#include <gantry/backend.h>

#define EXPORT __attribute__((visibility("default")))

/* What is right, unless the build says otherwise. */
#ifndef MAGIC
#define MAGIC GANTRY_BACKEND_MAGIC
#endif
#ifndef ABI_MAJOR
#define ABI_MAJOR GANTRY_BACKEND_ABI_MAJOR
#endif
#ifndef SIZE
#define SIZE sizeof(struct gantry_backend)
#endif
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(struct gantry_backend_ops)
#endif

#ifdef UNDEFINED_SYMBOL
int gantry_test_symbol_that_nobody_defines(void);
EXPORT int use_undefined(void);
int use_undefined(void)
{
    return gantry_test_symbol_that_nobody_defines();
}
#endif

static const struct gantry_backend_ops ops = {.size = TABLE_SIZE};

#ifdef NO_DESCRIPTOR
EXPORT const struct gantry_backend some_other_name;
#define gantry_backend_symbol some_other_name
#else
EXPORT const struct gantry_backend gantry_backend;
#define gantry_backend_symbol gantry_backend
#endif

const struct gantry_backend gantry_backend_symbol = {
    .magic = MAGIC,
    .abi_major = ABI_MAJOR,
    .abi_minor = GANTRY_BACKEND_ABI_MINOR,
    .size = SIZE,
    .name = NAME,
    .version = "test",
    .ops = &ops,
};
