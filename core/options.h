/* The keys of the configuration: one table that reading, checking and `gantry config` share, and
 * from which conf/README.md and the man page are made. */
#ifndef GANTRY_CORE_OPTIONS_H
#define GANTRY_CORE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <gantry/gantry.h>

enum option_id {
    /* of [gantry] */
    OPTION_BACKEND,
    OPTION_DEVICE,
    OPTION_PLUGIN_PATH,
    OPTION_CACHE_DIR,
    OPTION_LOG,
    OPTION_TRACE,
    /* of [policy] and [gpu …] */
    OPTION_BATCH_SIZE,
    OPTION_BATCH_MAX_MS,
    OPTION_BLOCK_SIZE,
    OPTION_BLOCKS_PER_CU,
    OPTION_QUEUE_FAMILY,
    OPTION_TRANSFER_FAMILY,
    OPTION_CHAINS,
    OPTION_FOLD,
    OPTION_PROGRAMMATIC,
    OPTION_SUBMIT,
    OPTION_SPIN_US,
    OPTION_POOL_BLOCK_MIB,
    OPTION_STAGING_MIB,
    OPTION_VALIDATE,
    OPTION_COUNT,
};

/* In which sections a key may stand, and how. */
enum option_scope {
    OPTION_OF_PROGRAM = 1, /* [gantry] */
    OPTION_OF_DEVICE = 2,  /* [policy] and [gpu …], also as BACKEND.KEY */
    OPTION_OF_KERNEL = 4,  /* likewise, also as KEY.KERNEL and KEY.PACKAGE/KERNEL */
};

enum { OPTION_OF_POLICY = OPTION_OF_DEVICE | OPTION_OF_KERNEL, OPTION_OF_ANY = 7 };

enum option_type {
    OPTION_WORD,     /* one of `words` and nothing else */
    OPTION_LEVEL,    /* one of `words`, or its number from 0 on */
    OPTION_SWITCH,   /* on, off */
    OPTION_WHOLE,    /* whole number */
    OPTION_DECIMAL,  /* number, which may have a point and up to three digits behind it */
    OPTION_BLOCK,    /* threads of a block: 256, 16x16, 8x8x4 */
    OPTION_NAMES,    /* backends, separated by commas */
    OPTION_SELECTOR, /* a device */
    OPTION_PATH,     /* absolute path */
    OPTION_PATHS,    /* absolute paths, separated by ':' */
};

struct option {
    const char *name;
    enum option_scope scope;
    enum option_type type;
    const char *words[6]; /* taken instead of a value of the type; ends with NULL */
    uint32_t min, max;    /* of numbers (decimal ones in thousandths), of threads along one axis */
    const char *unit;     /* or NULL */
    const char *fallback; /* the built-in value; "" is the empty list of paths */
    const char *effect;   /* a sentence or two for the reference */
    bool pending;         /* this version reads and checks the key but does not act on it */
};

extern const struct option options[OPTION_COUNT];

/* What a value's text says. */
struct option_value {
    const char
        *text; /* as written; words as the table writes them, names of backends in lower case */
    int word;  /* index in option.words, or -1; then one of these counts: */
    bool on;
    uint32_t whole;
    double decimal;
    struct gantry_size block; /* axes that are not written are 0 */
};

/* Room for every range, and for what is wrong with a value. */
enum { OPTION_RANGE_SIZE = 128, OPTION_WHY_SIZE = 288 };

/* Reads a value without blanks around it. The text may be changed, and must live as long as the
 * value. On failure `why` gets half a sentence: what is wrong and what would be right. */
bool option_parse(enum option_id id, char *text, struct option_value *value,
                  char why[OPTION_WHY_SIZE]);

/* What may be written: "1 to 65536", "on or off", "auto, or 1 to 1024". */
void option_range(enum option_id id, char text[OPTION_RANGE_SIZE]);

/* "whole number", …; static. */
const char *option_type_name(enum option_type type);

/* The option of a name in any case, OPTION_COUNT when there is none. */
enum option_id option_find(const char *name);

/* The nearest of the options of these scopes; OPTION_COUNT when none is near. */
enum option_id option_nearest(const char *name, unsigned scopes);

#endif
