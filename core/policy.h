/* The policy: what the configuration sources say, and which value wins for a device. */
#ifndef GANTRY_CORE_POLICY_H
#define GANTRY_CORE_POLICY_H

#include <gantry/backend.h>

#include "log.h"

struct policy; /* everything that was read; immutable once opened, so any thread may ask it */

struct policy_params {
    const char *config_file, *config_text; /* of the application; may be NULL */
    const char *override_text;             /* likewise, stronger than the environment */
    const char *shipped_dir; /* folder that holds the shipped gpu.d/, NULL: none was found */
    const char *system_dir;  /* "$sysconfdir/gantry" */
    const struct log *log;   /* for warnings about files that nobody named */
};

/* Reads every source in its order (see sources.h). Mistakes in sources that the user or the
 * application named fail with GANTRY_E_CONFIG and a sentence that begins with file:line and says
 * how many more there are; mistakes elsewhere are logged and the rest of the file counts. */
enum gantry_status policy_open(const struct policy_params *params, struct policy **policy);
void policy_close(struct policy **policy);

/* The files that were read, weakest first; NULL past the end. */
const char *policy_file(const struct policy *policy, uint32_t i);

/* The value of a key of [gantry] ("backend", "device", "plugin_path", "log", …). Never NULL for a
 * key of the option table; *origin, which may be NULL, gets "built-in", "FILE:LINE", "environment
 * NAME". */
const char *policy_global(const struct policy *policy, const char *key, const char **origin);

/* What sections are matched against: one device, seen through one backend. */
struct policy_subject {
    const char *name;   /* as the driver writes it */
    const char *uuid;   /* "GPU-…" or NULL */
    const char *pci;    /* "0000:01:00.0" or NULL */
    const char *arch;   /* "sm_89" or "" */
    uint32_t vendor_id; /* 0: unknown */
    enum gantry_device_type type;
    const char *backend; /* "cuda": for keys such as cuda.chains */
};

/* The device keys that the library itself reads, parsed. */
struct policy_device {
    uint32_t chains;   /* independent chains that a stage is laid on */
    bool fold;         /* fold small launches */
    bool programmatic; /* early starts between kernels where the driver has them */
    enum gantry_submit_mode submit;
    uint32_t spin_us;       /* how long a wait spins before it sleeps */
    uint32_t blocks_per_cu; /* size of a grid-stride grid; 0: from occupancy */
    int32_t queue_family;   /* index or GANTRY_FAMILY_… */
    int32_t transfer_family;
    bool validate;
    uint32_t batch_size; /* launches in a streaming batch */
    double batch_max_ms; /* estimated time in one */
    uint32_t pool_block_mib, staging_mib;
};

void policy_for_device(const struct policy *policy, const struct policy_subject *subject,
                       struct policy_device *values);

/* The strongest section that matches and sets something, as "[gpu NVIDIA H200] at FILE:LINE";
 * "built-in" when none does. */
const char *policy_section(const struct policy *policy, const struct policy_subject *subject);

/* The block size that the policy gives a kernel: *size is {0, 0, 0} when it gives none; axes that
 * are not written are 0. *origin gets "FILE:LINE". Inside one source block_size.PACKAGE/KERNEL is
 * stronger than block_size.KERNEL, and that than block_size. */
void policy_block_size(const struct policy *policy, const struct policy_subject *subject,
                       const char *package, const char *kernel, struct gantry_size *size,
                       const char **origin);

/* Every effective value: the options in their order, then block_size.… for the kernels that some
 * rule names. Subject NULL: what holds where no [gpu …] section does. The lists of what a value
 * beat are kept once each, so asking again needs no more memory. */
uint32_t policy_value_count(const struct policy *policy, const struct policy_subject *subject);
enum gantry_status policy_value(const struct policy *policy, const struct policy_subject *subject,
                                uint32_t i, struct gantry_config_value *value);

/* Whether a device is what a selector names: a pattern for its name, "uuid:…", "pci:…" (as [gpu …]
 * sections are matched). Indices and "cuda:0" are the device list's business. */
bool policy_selects(const char *selector, const struct policy_subject *subject);

#endif
