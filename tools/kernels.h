/* Where the kernel packages are that come with gantry. */
#ifndef GANTRY_TOOLS_KERNELS_H
#define GANTRY_TOOLS_KERNELS_H

/* The path of a package that can be read, as "bench.gpk": beside the program first, so that a build
 * uses its own, then where they are installed. Free it. NULL when there is none. */
char *kernels_find(const char *name);

/* The folder where they are installed; static. */
const char *kernels_installed(void);

#endif
