/* The manifests of Vulkan drivers, found as the Vulkan loader finds them. */
#ifndef GANTRY_DOCTOR_ICD_SEARCH_H
#define GANTRY_DOCTOR_ICD_SEARCH_H

#include "machine.h"

enum { MOST_MANIFESTS = 128 };

struct manifests {
    char *items[MOST_MANIFESTS]; /* paths, in the order of the search */
    size_t count;
};

/* The variable that names the manifests, so that no folder is searched: VK_DRIVER_FILES before the
 * older VK_ICD_FILENAMES. NULL: neither is set. */
const char *icd_variable(void);

/* Those that the variable names, whether they are there or not; those of a folder that it names. */
void icd_find_named(const char *variable, struct manifests *manifests);

/* Those in the folders that are searched otherwise. */
void icd_find_installed(const struct machine *machine, struct manifests *manifests);

bool icd_contains(const struct manifests *manifests, const char *path);
void icd_free(struct manifests *manifests);

#endif
