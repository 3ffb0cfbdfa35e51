/* The kernel package file, version 2: what tools/compile writes and core/package.c reads.
 * docs/package-format.md says the same in prose.
 *
 * All numbers are little-endian. All offsets count from the file's first byte. The records of one
 * kind lie behind each other; each table's offset is a multiple of 8, each image's a multiple
 * of 16. Texts are offsets into the string area, whose first and last bytes are zero, so that
 * offset 0 is the empty text and every text ends. A reader must not trust anything before it has
 * checked it. */
#ifndef GANTRY_CORE_PACKAGE_FORMAT_H
#define GANTRY_CORE_PACKAGE_FORMAT_H

#include <stdint.h>

#define GPK_MAGIC       "GANTRYPK" /* 8 bytes, no zero */
#define GPK_VERSION     2
#define GPK_ALL_KERNELS 0xffffffffu

struct gpk_table {
    uint64_t offset;
    uint32_t count; /* records; for the string area bytes */
    uint32_t reserved;
};

struct gpk_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size; /* sizeof(struct gpk_header) */
    uint64_t file_size;
    uint64_t hash; /* see package_hash.h */
    struct gpk_table kernels, fields, images, strings;
    uint32_t name;      /* text: the package's name, "saxpy" */
    uint32_t toolchain; /* text: "gantry 0.1.0; glslc …; nvcc …" */
};

enum gpk_kernel_flags {
    GPK_KERNEL_BLOCK_POW2 = 1 << 0,
    GPK_KERNEL_GRID_STRIDE = 1 << 1,
    GPK_KERNEL_EARLY_RETURN = 1 << 2,
};

struct gpk_kernel {
    uint32_t name, args_name; /* texts */
    uint32_t args_size;       /* bytes, the C struct's size */
    uint32_t first_field, field_count;
    uint32_t dimensions; /* 1 to 3 */
    uint32_t block[3];   /* all 0: chosen for the device */
    uint32_t block_multiple, block_max;
    uint32_t flags;
    uint32_t shared_bytes, shared_per_thread;
    uint32_t features; /* enum gantry_feature */
    uint32_t reserved;
    double tolerance;     /* IEEE 754 binary64 */
    uint64_t layout_hash; /* XXH64, seed 0, of "ARGS_NAME\n" and per field
                             "NAME TYPE OFFSET COUNT POINTEE\n" (TYPE as gantry_scalar_name(),
                             numbers decimal), then "SIZE\n" */
};

enum gpk_field_flags {
    GPK_FIELD_MAY_BE_NULL = 1 << 0,
    GPK_FIELD_WRITTEN = 1 << 1,
};

#define GPK_FACTORS 3
#define GPK_NUMBER  0xffffffffu /* in the place of a field: the number counts */

/* Version 1 ends behind the pointee; of its pointers nothing more is known. */
struct gpk_field {
    uint32_t name;
    uint32_t type; /* enum gantry_scalar */
    uint32_t offset, size, count;
    uint32_t pointee; /* text, empty unless a pointer */

    /* All zero unless a pointer. */
    uint32_t pointee_size; /* bytes of an element; 0: unknown */
    uint32_t flags;
    uint32_t reach_count;               /* factors of how many elements the kernel reaches */
    uint32_t reach_field[GPK_FACTORS];  /* of the same kernel, or GPK_NUMBER */
    uint64_t reach_number[GPK_FACTORS]; /* 0 beside a field, and behind the last factor */
};

#define GPK_FIELD_SIZE_1 24 /* bytes, in version 1 */

struct gpk_image {
    uint32_t kernel; /* index, or GPK_ALL_KERNELS */
    uint32_t kind;   /* enum gantry_image_kind */
    uint32_t entry;  /* enum gantry_entry */
    uint32_t arch, isa_version, features;
    uint32_t name; /* text: a source file's name; otherwise empty */
    uint32_t reserved;
    uint64_t offset, size;
};

_Static_assert(sizeof(struct gpk_header) == 104, "no padding");
_Static_assert(sizeof(struct gpk_kernel) == 80, "no padding");
_Static_assert(sizeof(struct gpk_field) == 72, "no padding");
_Static_assert(sizeof(struct gpk_image) == 48, "no padding");

#endif
