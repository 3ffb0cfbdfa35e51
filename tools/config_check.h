/* gantry config --check: what is wrong in configuration files that are not in force. */
#ifndef GANTRY_TOOLS_CONFIG_CHECK_H
#define GANTRY_TOOLS_CONFIG_CHECK_H

#include <stdbool.h>

/* Whether the arguments of `gantry config` ask for it. */
bool config_check_asked(int argc, char **argv);

/* Returns the exit status: TOOL_FAILED when a file has a mistake or can't be read. */
int config_check(int argc, char **argv);

#endif
