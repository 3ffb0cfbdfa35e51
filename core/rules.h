/* Rules: what the configuration's sources set, each with where it came from. */
#ifndef GANTRY_CORE_RULES_H
#define GANTRY_CORE_RULES_H

#include "ini.h"
#include "match.h"
#include "options.h"
#include "remarks.h"

enum section_kind {
    SECTION_GANTRY, /* [gantry] */
    SECTION_POLICY, /* [policy] */
    SECTION_GPU,    /* [gpu SELECTOR] */
};

struct section {
    enum section_kind kind;
    struct selector selector; /* of SECTION_GPU */
    uint32_t line;
    uint32_t order;    /* of reading, over all files */
    const char *title; /* "[gpu NVIDIA H200]", as written */
    const char *place; /* "[gpu NVIDIA H200] at FILE:LINE" */
};

struct rule {
    enum option_id option;
    const char *key;              /* "chains", "block_size.edge" */
    const char *backend;          /* of "cuda.chains"; NULL: any */
    const char *package, *kernel; /* of block_size.PACKAGE/KERNEL; NULL: any */
    struct option_value value;
    const struct section *section; /* NULL: built-in, or from the environment */
    uint32_t line;
    uint32_t source;         /* a greater one is stronger */
    uint32_t order;          /* of reading, over all sources */
    const char *origin;      /* "built-in", "FILE:LINE", "environment NAME" */
    const char *description; /* "VALUE (ORIGIN, [SECTION])" */
};

struct rules {
    struct arena *arena;
    struct remarks remarks; /* its arena is the same one */
    struct rule *items;
    uint32_t count;
    uint32_t section_count;
    uint32_t source; /* that is being read */
};

void rules_init(struct rules *rules, struct arena *arena);

/* Completes a rule, which has its key, value and section, and keeps it. */
void rules_add(struct rules *rules, struct rule rule, const char *origin);

/* The built-in value of every option. */
void rules_add_built_in(struct rules *rules);

/* Reads an INI text; remarks.file and .named are those of the text. */
void rules_read(struct rules *rules, const char *text, size_t size);

/* Reads the variable GANTRY_KEY for every option, and doubts names that are nearly one of them. In
 * programs with the rights of another user no variable sets anything. */
void rules_read_environment(struct rules *rules);

/* Reads a section's name, and doubts it when one of the `count` earlier ones of its text means the
 * same or ties with it. NULL when it is refused, which is remarked on. */
const struct section *rules_read_section(struct rules *rules, const struct ini_section *ini,
                                         const struct section *const *earlier, uint32_t count);

/* The scopes, enum option_scope, of the keys that it may have. */
unsigned section_scopes(const struct section *section);

/* Whether both are for the same devices by the same words. */
bool section_same(const struct section *a, const struct section *b);

/* Orders sections inside a source: a greater number is more specific. NULL has none. */
uint32_t section_rank(const struct section *section);

/* Puts the strongest first: by source; then, for block_size, by how much of PACKAGE/KERNEL is
 * stated; then by the section's specificity; then by the later section; inside it keys for one
 * backend before plain ones, then by the later line. */
void rules_sort(struct rules *rules);

#endif
