/* A package's bytes while they are being read. */
#ifndef GANTRY_CORE_PACKAGE_READER_H
#define GANTRY_CORE_PACKAGE_READER_H

#include "package.h"
#include "package_format.h"

struct reader {
    const uint8_t *data; /* the package's own copy */
    size_t size;
    struct gpk_header header;
    uint32_t field_uses; /* of all kernels that were read */
    struct gantry_package *package;
};

enum { WHERE_SIZE = 64 }; /* "kernel 2 at offset 184" */

/* A text of the string area, which has been checked; `where` says whose text it is. It points into
 * the package's copy. */
enum gantry_status read_text(const struct reader *reader, uint32_t at, const char *where,
                             const char **text);

/* Bytes of a field's record in the package's version of the format. */
size_t field_record_size(const struct gpk_header *header);

/* Reads all records of tables that are known to lie inside the file. */
enum gantry_status read_records(struct reader *reader);

#endif
