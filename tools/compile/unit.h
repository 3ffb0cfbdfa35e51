/* What is known of one .gk file: filled in by scan.c from its words and by reflect.c from its
 * SPIR-V. */
#ifndef GANTRY_COMPILE_UNIT_H
#define GANTRY_COMPILE_UNIT_H

#include <gantry/gantry.h>

#include "pool.h"

struct place {
    const char *file;
    uint32_t line;
};

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_NUMBER,
    TOKEN_MARK, /* one character; operators of several are several tokens */
};

struct token {
    enum token_kind kind;
    const char *text;
    struct place place;
};

/* Tokens first … last - 1 of the unit: what stands between a pair of braces. */
struct range {
    size_t first, last;
};

struct field {
    struct place place;
    const char *name;
    const char *type;    /* as the source writes it; "PTR" for a pointer */
    const char *pointee; /* of a pointer; otherwise "" */
    bool array;

    /* From the SPIR-V. */
    enum gantry_scalar scalar;
    uint32_t components; /* of a vector; 1 */
    uint32_t offset, size, count;
};

/* An ARGS or a STRUCT. */
struct record {
    struct place place;
    const char *name;
    bool is_args;
    struct field *fields;
    size_t field_count;

    bool pointee;         /* POINTEE names it */
    uint32_t size, align; /* of a pointee as stated, of an ARGS as reflected */
    bool reflected;
};

/* One factor of how many elements of a pointer a kernel reaches. */
struct factor {
    int field; /* of the arguments; -1: the number counts */
    uint64_t number;
};

enum { MAX_FACTORS = 3 };

/* What is known of a member of the arguments that is a pointer. */
struct pointer {
    bool may_be_null;
    bool written; /* found in the SPIR-V; true until then */
    uint32_t reach_count;
    struct factor reach[MAX_FACTORS];
};

struct kernel {
    struct place place;
    const char *name;
    struct record *args;
    struct pointer *pointers; /* one for each member of args */
    struct range body;

    uint32_t block[3]; /* all 0: not fixed */
    uint32_t dimensions, block_multiple, block_max;
    uint32_t resident; /* blocks for which registers must be left on a multiprocessor; 0: any */
    bool block_pow2, grid_stride;
    double tolerance;

    bool early_return;

    /* From the SPIR-V. */
    uint32_t shared_bytes, shared_per_thread;
    uint32_t features;  /* that every image needs */
    bool float_atomics; /* there is a variant for devices that have them */
    uint64_t layout_hash;
};

struct function {
    const char *name;
    struct range body;
};

/* A file that the source includes, and the name it includes it by. */
struct include {
    const char *name, *path;
};

struct unit {
    struct pool *pool;
    const char *path;     /* of the .gk file, as the user names it */
    const char *name;     /* the package's: "saxpy" */
    struct token *tokens; /* ends with one TOKEN_END */
    size_t token_count;

    struct record **records;
    size_t record_count;
    struct kernel **kernels;
    size_t kernel_count;
    struct function *functions;
    size_t function_count;
    const char *shared_block; /* NULL: none */
    struct place shared_block_place;

    struct include *includes; /* the file itself first, then in the order of first use */
    size_t include_count;

    unsigned mistakes;
};

/* Prints "FILE:LINE: error: …" and counts it. */
void mistake(struct unit *unit, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct record *unit_record(const struct unit *unit, const char *name);

bool token_is(const struct token *token, const char *text);

#endif
