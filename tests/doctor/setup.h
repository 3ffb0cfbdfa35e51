/* A machine that gantry doctor is run on: an environment, and a folder that stands for the root of
 * its device files; and what it must find there. */
#ifndef GANTRY_TESTS_DOCTOR_SETUP_H
#define GANTRY_TESTS_DOCTOR_SETUP_H

#include <jansson.h>
#include <stdbool.h>

#include "../tools/run.h"

enum { SETTINGS = 32, SETTING_SIZE = 1024, ARGUMENTS = 8 };

struct setup {
    char texts[SETTINGS][SETTING_SIZE];
    const char *list[SETTINGS + 1];
    size_t count;
    const char *tool;                 /* NULL: the one under test */
    const char *arguments[ARGUMENTS]; /* behind `doctor --json --root ROOT`, up to a NULL */
    bool nobody;                      /* run it as a user without rights, when we are root */
};

/* A machine with plugins, without configuration, drivers and GPUs. The next call takes it back. */
struct setup *setup_make(void);

/* "NAME=VALUE", or "NAME" to remove it. */
void set(struct setup *setup, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The stand-in for NVIDIA's driver; the manifest of Mesa's lavapipe, or the test is skipped. */
void add_standin(struct setup *setup);
const char *lavapipe(void);
void name_manifests(struct setup *setup, const char *list);

/* Skips the test where gantry was built without Vulkan. */
void need_vulkan(void);

/* Skip the test where this machine has what it must not have: NVIDIA's real driver; manifests in
 * folders that no variable keeps the Vulkan loader from. */
void need_no_cuda(void);
void need_no_vulkan(void);

/* A GPU on the PCI bus: "0x10de". */
void add_pci_gpu(const char *address, const char *vendor);

/* Makes sure that files which others may not read can be tried; skips the test otherwise. */
void become_nobody(struct setup *setup);

/* Writes a file below the root, as "dev/dri/renderD128"; returns its path. */
const char *root_file(const char *name, const char *text);

/* What the doctor says of it, as one object. Fails the test unless the exit status is 1 with an
 * error among the findings and 0 without. */
json_t *examine(const struct setup *setup);

/* The same for people; free it with outcome_free(). */
struct outcome examine_as_text(const struct setup *setup);

/* The test fails unless such a finding is there, with the parts in what, why or subject, and in the
 * remedy. */
void check_finding(const json_t *result, const char *code, const char *severity, const char *part,
                   const char *remedy);
bool has_finding(const json_t *result, const char *code);

/* The test fails when there is an error or a warning. */
void check_well(const json_t *result);

#endif
