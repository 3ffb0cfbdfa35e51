/* The lines of an INI text. What sections and keys mean is not known here. */
#ifndef GANTRY_CORE_INI_H
#define GANTRY_CORE_INI_H

#include "remarks.h"

#define INI_NO_SECTION UINT32_MAX

/* A key and its value, without the blanks around them, may have this many bytes together. */
#define INI_PAIR_MAX 190

/* No configuration has more: behind these the text is not read. They bound the time that comparing
 * all of them with each other takes. */
#define INI_SECTIONS_MAX 1024
#define INI_KEYS_MAX     4096

struct ini_section {
    uint32_t line;
    const char
        *name; /* between the brackets, without blanks around it; NULL: the line was refused */
};

struct ini_key {
    uint32_t line;
    uint32_t section;   /* index, or INI_NO_SECTION for a key above the first section */
    char *name, *value; /* not empty */
};

/* Both in the order of their lines. */
struct ini {
    struct ini_section *sections;
    uint32_t section_count;
    struct ini_key *keys;
    uint32_t key_count;
};

/* Reads UTF-8 text into memory of remarks->arena, and remarks on every line that is no section, key
 * or comment; those lines are left out. docs/policy.md has the rules. */
void ini_read(struct ini *ini, const char *text, size_t size, struct remarks *remarks);

#endif
