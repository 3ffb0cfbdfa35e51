/* A gantry opened on made-up machines: the host plugin under several names, devices as a text. */
#ifndef GANTRY_TESTS_UNIT_MACHINE_H
#define GANTRY_TESTS_UNIT_MACHINE_H

#include <gantry/gantry.h>

/* Forgets the configuration and the machine of the test before: for setup. Skips the program when
 * the build folder, which holds the plugins, is not named by GANTRY_BUILD_DIR. */
int machine_reset(void **state);

/* The devices that gantry-cuda.so and gantry-vulkan.so list, as tests/plugins/host/README.md says.
 */
void machine_set(const char *cuda, const char *vulkan);

/* A folder of plugins in the build folder: "tests/plugins/bad". Valid until the next call. */
const char *machine_folder(const char *name);

/* Opens gantry with the twins' folder as plugin_path; messages down to INFO are kept. */
struct gantry *machine_open(void);

/* Closes gantry and checks that the host plugin under this name saw no broken contract and no leak.
 */
void machine_close(struct gantry **g, const char *plugin);

/* How many of the kept messages of this level hold the text. */
int machine_logged(enum gantry_log_level level, const char *part);

#endif
