/* The few lines around a .gk file that choose what is compiled of it: see kernel.h. */
#ifndef GANTRY_COMPILE_WRAPPER_H
#define GANTRY_COMPILE_WRAPPER_H

#include "settings.h"
#include "unit.h"

/* For `glslc -E`: the language's words stay as they are. */
struct text wrap_scan(const struct unit *unit, const struct settings *settings);

struct glsl_variant {
    const struct kernel *kernel;
    bool reflect; /* not to be run: names the whole argument struct, so that it can be read */
    enum gantry_entry entry;
    bool float_atomics;
};
struct text wrap_glsl(const struct unit *unit, const struct settings *settings,
                      const struct glsl_variant *variant);

/* For nvcc, NVRTC and the host's compiler; `only` NULL: every kernel. */
struct text wrap_cpp(const struct unit *unit, const struct settings *settings,
                     const struct kernel *only);

#endif
