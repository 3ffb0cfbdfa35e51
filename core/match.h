/* Selectors: the texts that say which devices are meant, in [gpu …] sections and for `device`. */
#ifndef GANTRY_CORE_MATCH_H
#define GANTRY_CORE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "policy.h"

/* Longest name, as in struct gantry_backend_device_info. */
#define MATCH_NAME_SIZE 256

/* From the least to the most specific. */
enum selector_kind {
    SELECT_TYPE,    /* type:discrete */
    SELECT_VENDOR,  /* vendor:nvidia, vendor:0x10de */
    SELECT_ARCH,    /* arch:sm_89 */
    SELECT_PATTERN, /* a name with '*' or '?' */
    SELECT_NAME,
    SELECT_PCI,  /* pci:0000:01:00.0 */
    SELECT_UUID, /* uuid:GPU-… */
};

struct match_pci {
    uint32_t domain, bus, device, function;
};

struct selector {
    enum selector_kind kind;
    uint32_t literal; /* characters that are no wildcards */
    uint32_t number;  /* device type or vendor */
    struct match_pci pci;
    char text[MATCH_NAME_SIZE]; /* normalised */
};

/* Reads "0000:01:00.0", with a domain of up to eight digits or none. */
bool match_read_pci(const char *text, struct match_pci *pci);

/* Reads 8-4-4-4-12 hexadecimal digits, with "GPU-" in front or without, to lower case and without;
 * `uuid` has room for 37 bytes. */
bool match_read_uuid(const char *text, char *uuid);

/* Reads a selector. One that can never match is refused, and `why`, of `size` bytes, gets half a
 * sentence about it. */
bool selector_parse(const char *text, struct selector *selector, char *why, size_t size);

/* Whether it begins with "uuid:" or another kind. */
bool selector_has_kind(const char *text);

bool selector_matches(const struct selector *selector, const struct policy_subject *subject);

/* Whether it is a vendor's word alone, which is hardly any device's name. */
bool selector_is_vendor(const struct selector *selector);

/* Whether both mean the same devices by the same words. */
bool selector_same(const struct selector *a, const struct selector *b);

/* Orders selectors: a greater number is more specific. Never 0. */
uint32_t selector_rank(const struct selector *selector);

#endif
