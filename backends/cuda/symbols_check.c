/* Compares our declarations of the driver's interface with NVIDIA's; makes no code. */
#if defined(GANTRY_HAVE_CUDA_H)
#include <cuda.h>
#endif

/* Older toolkits don't have everything that the tables name. */
#if defined(CUDA_VERSION) && CUDA_VERSION >= 12040

/* Names each prototype with the version that pins it. */
#include <cudaTypedefs.h>
#include "symbols.h"

#define X(name, value) _Static_assert((name) == (value), #name);
CUDA_CONSTANT_MAP(X)
#undef X

#define X(type, member, offset, end) \
    _Static_assert(offsetof(type, member) == (offset) && sizeof(type) == (end), #type);
CUDA_LAYOUT_MAP(X)
#undef X

#define X(member, base, version, suffix, need, prototype)                                        \
    _Static_assert(__builtin_types_compatible_p(PFN_##base##_v##version, CUresult(*) prototype), \
                   #member);
CUDA_DRIVER_MAP(X)
#undef X

#else

typedef int symbols_are_not_checked; /* ISO C wants a declaration in every file */

#endif
