/* A policy of a test's own sources. */
#ifndef GANTRY_TESTS_UNIT_POLICY_RIG_H
#define GANTRY_TESTS_UNIT_POLICY_RIG_H

#include "core/policy.h"

extern struct policy_rig {
    struct policy *policy;       /* the latest one that was opened */
    struct policy_params params; /* for the next one */
    char logged[8192];           /* while it was opened: "LEVEL: TEXT\n" */
} rig;

/* A discrete GPU of NVIDIA's, seen through "cuda". */
extern const struct policy_subject h200;

/* No variables, and in a scratch folder the folders shipped/, system/, user/gantry/ and
 * home/.config/gantry/, which are not there yet. For cmocka's setup and teardown. */
int rig_open(void **state);
int rig_close(void **state);

/* Open the policy anew: may fail; must not fail; the same with a text as the application's. */
enum gantry_status rig_try(void);
void rig_read(void);
void rig_read_text(const char *text);

/* Opening must fail with GANTRY_E_CONFIG and a sentence that has this part. */
void rig_fails(const char *part);
void rig_text_fails(const char *text, const char *part);

/* The value of `chains`, whose default is 8, for a device and for the H200. */
uint32_t chains_of(const struct policy_subject *subject);
uint32_t chains(void);

/* A row of the listing. */
struct gantry_config_value value_of(const struct policy_subject *subject, const char *key);

#endif
