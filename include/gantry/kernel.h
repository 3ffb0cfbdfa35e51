/* The kernel language: one source for glslc, nvcc, NVRTC and the host's C++ compiler.
 *
 * docs/kernel-language.md lists every word. A .gk file need not include this header: the wrapper
 * that `gantry compile` puts around it does so first. The wrapper chooses what is compiled:
 *
 * - GLSL: one entry of one kernel. GANTRY_KERNEL_name is defined as GANTRY_KERNEL_THIS for that
 *   kernel and as GANTRY_KERNEL_OTHER for the file's others. GANTRY_FOLDED asks for the folded
 *   entry; GANTRY_CHAINED, with the bytes of the arguments in GANTRY_ARGS_SIZE, for the chained
 *   one; GANTRY_NATIVE_FLOAT_ATOMICS for the instruction that some devices lack. GANTRY_MAIN ends
 *   it.
 * - CUDA and the host: every entry of the file, or those of one kernel. GANTRY_ENTRIES and, for
 *   kernels that can't return before threads meet, GANTRY_CHAINED_ENTRY end it.
 * - GANTRY_SCAN: nothing is defined, so that gantry compile sees the words themselves.
 *
 * Names that begin with gantry_ are not for kernels. Pointers hide their representation because
 * plain indexing is wrong past 4 GiB on some drivers: AT() does its arithmetic in 64 bits. There is
 * no read-only load and no restrict: launches start early and share tables, which breaks both. */
#ifndef GANTRY_KERNEL_H
#define GANTRY_KERNEL_H

#ifndef GANTRY_SCAN

/* ---- Attributes: read by gantry compile, nothing to a compiler ------------------------------ */

#define BLOCK(size)
#define BLOCK_MULTIPLE(threads)
#define BLOCK_POW2
#define BLOCK_MAX(threads)
#define RESIDENT(blocks)
#define GRID_STRIDE
#define DIMENSIONS(axes)
#define TOLERANCE(difference)
#define REACH(pointer, elements)
#define MAY_BE_NULL(pointer)

#if !defined(__cplusplus)
#include <gantry/kernel_glsl.h>
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include <gantry/kernel_cuda.h>
#else
#include <gantry/kernel_host.h>
#endif

#endif /* GANTRY_SCAN */

#endif /* GANTRY_KERNEL_H */
