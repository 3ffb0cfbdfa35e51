/* The arguments of a kernel: given, guessed, or asked for. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

struct reader {
    struct job *job;
    const struct job_params *params;
    char *why;
};

static bool refuse(const struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Which kernel, and what is wrong with it. */
static bool refuse(const struct reader *reader, const char *format, ...)
{
    int used = snprintf(reader->why, JOB_WHY_SIZE, "kernel %s: ", reader->job->name);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reader->why + used, JOB_WHY_SIZE - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

/* Elements that all threads together work on. */
static uint64_t all_elements(const struct reader *reader)
{
    struct gantry_size threads = reader->params->threads;
    uint64_t per_thread = reader->params->per_thread ? reader->params->per_thread : 1;

    return (uint64_t)(threads.x ? threads.x : 1) * (threads.y ? threads.y : 1) *
           (threads.z ? threads.z : 1) * per_thread;
}

/* What was given behind "NAME=", NULL when nothing was. */
static const char *given(const struct reader *reader, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < reader->params->arg_count; i++) {
        const char *arg = reader->params->args[i];

        if (strncmp(arg, name, length) == 0 && arg[length] == '=')
            return arg + length + 1;
    }
    return NULL;
}

/* ---- Scalars -------------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

/* Sizes have the names that everybody gives them; 0: this is none. */
static uint64_t guess(const struct reader *reader, const struct gantry_field_info *field)
{
    static const char *const counts[] = {"n", "count", "size", "length", "elements", NULL};
    static const char *const widths[] = {"width", "w", "columns", "cols", NULL};
    static const char *const heights[] = {"height", "h", "rows", NULL};
    static const char *const depths[] = {"depth", "d", NULL};
    struct gantry_size threads = reader->params->threads;

    if (field->type == GANTRY_SCALAR_HALF || field->type == GANTRY_SCALAR_FLOAT ||
        field->type == GANTRY_SCALAR_DOUBLE || field->count > 1)
        return 0;
    if (is_one_of(field->name, counts))
        return all_elements(reader);
    if (is_one_of(field->name, widths))
        return threads.x;
    if (is_one_of(field->name, heights))
        return threads.y;
    return is_one_of(field->name, depths) ? threads.z : 0;
}

static bool is_signed(enum gantry_scalar type)
{
    return type == GANTRY_SCALAR_INT8 || type == GANTRY_SCALAR_INT16 ||
           type == GANTRY_SCALAR_INT32 || type == GANTRY_SCALAR_INT64;
}

/* Reads a number at *text, moves behind it, and writes it as an element of the field. */
static bool read_number(const struct gantry_field_info *field, const char **text, void *to)
{
    uint32_t size = field->size / field->count;
    const char *start = *text;
    char *end = NULL;
    double real;
    float single;
    uint16_t half;
    uint64_t whole;
    bool fits = true;

    errno = 0;
    switch (field->type) {
    case GANTRY_SCALAR_HALF:
        half = job_half(strtof(start, &end));
        memcpy(to, &half, sizeof half);
        break;
    case GANTRY_SCALAR_FLOAT:
        single = strtof(start, &end);
        memcpy(to, &single, sizeof single);
        break;
    case GANTRY_SCALAR_DOUBLE:
        real = strtod(start, &end);
        memcpy(to, &real, sizeof real);
        break;
    default:
        whole =
            is_signed(field->type) ? (uint64_t)strtoll(start, &end, 0) : strtoull(start, &end, 0);
        if (is_signed(field->type))
            fits = size == 8 || (int64_t)whole >> (8 * size - 1) == 0 ||
                   (int64_t)whole >> (8 * size - 1) == -1;
        else
            fits = *start != '-' && (size == 8 || whole >> (8 * size) == 0);
        memcpy(to, &whole, size);
        break;
    }
    *text = end;
    return fits && end != start && errno == 0;
}

static bool read_scalar(const struct reader *reader, const struct gantry_field_info *field)
{
    unsigned char *to = reader->job->args + field->offset;
    uint32_t size = field->size / field->count;
    const char *text = given(reader, field->name), *at = text;
    uint64_t guessed = guess(reader, field);

    if (!text && guessed) {
        memcpy(to, &guessed, size);
        return size == 8 || guessed >> (8 * size) == 0 ||
               refuse(reader, "argument %s of type %s can't hold %" PRIu64 " (fewer --threads)",
                      field->name, gantry_scalar_name(field->type), guessed);
    }
    if (!text)
        return refuse(reader, "what argument %s should be can't be guessed (add --arg %s=%s, %s%s)",
                      field->name, field->name, field->count > 1 ? "V,V,…" : "VALUE",
                      field->count > 1 ? "each " : "", gantry_scalar_name(field->type));
    for (uint32_t i = 0; i < field->count; i++) {
        if (!read_number(field, &at, to + (size_t)i * size) ||
            *at != (i + 1 < field->count ? ',' : '\0'))
            return refuse(reader, "argument %s takes %u number%s of type %s, not '%s'", field->name,
                          field->count, field->count == 1 ? "" : "s",
                          gantry_scalar_name(field->type), text);
        at++;
    }
    return true;
}

/* ---- Buffers -------------------------------------------------------------------------------- */

/* "ELEMENTS:BELOW", each of which may be missing, or "SIZEB". */
static bool read_extent(const char *text, uint64_t *elements, uint64_t *bytes, double *below)
{
    char *end = (char *)(uintptr_t)text;

    errno = 0;
    if (*end >= '0' && *end <= '9') {
        *elements = strtoull(text, &end, 10);
        if (*end == 'B') {
            *bytes = *elements;
            end++;
        }
    }
    if (*end == ':' && end[1] >= '0' && end[1] <= '9')
        *below = strtod(end + 1, &end);
    return *text && *end == '\0' && errno == 0 && *elements > 0;
}

static uint64_t scalar_value(const struct reader *reader, uint32_t index)
{
    const struct gantry_field_info *field = &reader->job->source.fields[index];
    uint64_t value = 0;

    memcpy(&value, reader->job->args + field->offset, field->size);
    return value;
}

/* As many elements as the kernel says that it can reach, or one for each thread. Scalars have been
 * read before. */
static uint64_t usual_elements(const struct reader *reader, const struct gantry_field_info *field)
{
    uint64_t elements = field->reach_count ? 1 : all_elements(reader);

    for (uint32_t i = 0; i < field->reach_count; i++) {
        uint64_t factor = field->reach[i].field >= 0
                              ? scalar_value(reader, (uint32_t)field->reach[i].field)
                              : field->reach[i].number;

        if (__builtin_mul_overflow(elements, factor, &elements))
            return UINT64_MAX;
    }
    return elements ? elements : 1;
}

/* The bytes of the field's buffer; and the bound of its random elements, 0: zeros. */
static bool read_size(const struct reader *reader, const struct gantry_field_info *field,
                      uint64_t *bytes, double *below)
{
    const struct job_element *element = job_element_find(field->pointee);
    uint64_t size = element ? job_element_size(element) : field->pointee_size;
    uint64_t elements = usual_elements(reader, field);
    const char *text = given(reader, field->name);

    *bytes = 0;
    *below = 0;
    if (text && !read_extent(text, &elements, bytes, below))
        return refuse(reader,
                      "argument %s is a pointer: --arg %s=ELEMENTS or ELEMENTS:BELOW or SIZEB, "
                      "not '%s'",
                      field->name, field->name, text);
    if (!element && *below > 0)
        return refuse(reader, "argument %s points to %s, which can only be zeros (no ':')",
                      field->name, field->pointee);
    if (!size && !*bytes)
        return refuse(reader,
                      "argument %s points to %s, whose size the package does not tell (add --arg "
                      "%s=SIZEB, the bytes of its buffer, which gets zeros)",
                      field->name, field->pointee, field->name);
    if (!*bytes && __builtin_mul_overflow(elements, size, bytes))
        return refuse(reader, "argument %s would be larger than memory", field->name);
    return true;
}

static bool add_buffer(const struct reader *reader, const struct gantry_field_info *field)
{
    const struct job_element *element = job_element_find(field->pointee);
    struct job *job = reader->job;
    struct job_buffer *buffer = &job->buffers[job->buffer_count];
    double below;

    if (job->buffer_count == JOB_BUFFERS)
        return refuse(reader, "it has more than %d pointers", JOB_BUFFERS);
    *buffer = (struct job_buffer){.name = field->name,
                                  .offset = field->offset,
                                  .floats = element && job_element_is_float(element)};
    if (!read_size(reader, field, &buffer->size, &below))
        return false;
    if (below > 0)
        buffer->initial = job_fill(element, buffer->size, below, job->buffer_count);
    if (below > 0 && !buffer->initial)
        return refuse(reader, "out of memory for the %" PRIu64 " bytes of argument %s",
                      buffer->size, field->name);
    job->buffer_count++;
    return true;
}

/* ---- All ------------------------------------------------------------------------------------ */

static bool names_a_field(const struct reader *reader, const char *arg)
{
    const struct gantry_kernel_source *source = &reader->job->source;

    for (uint32_t i = 0; i < source->field_count; i++) {
        size_t length = strlen(source->fields[i].name);

        if (strncmp(arg, source->fields[i].name, length) == 0 && arg[length] == '=')
            return true;
    }
    return refuse(reader, "--arg '%s' names none of its arguments (see gantry inspect)", arg);
}

static bool is_pointer(const struct gantry_field_info *field)
{
    return field->type == GANTRY_SCALAR_POINTER;
}

bool job_read_args(struct job *job, const struct job_params *params, char why[JOB_WHY_SIZE])
{
    const struct reader reader = {job, params, why};
    const struct gantry_kernel_source *source = &job->source;

    for (size_t i = 0; i < params->arg_count; i++) {
        if (!names_a_field(&reader, params->args[i]))
            return false;
    }
    for (uint32_t i = 0; i < source->field_count; i++) {
        if (!is_pointer(&source->fields[i]) && !read_scalar(&reader, &source->fields[i]))
            return false;
    }
    for (uint32_t i = 0; i < source->field_count; i++) {
        const struct gantry_field_info *field = &source->fields[i];

        if (is_pointer(field) && field->count > 1)
            return refuse(&reader,
                          "argument %s is an array of pointers, which gantry tune can't make up",
                          field->name);
        if (is_pointer(field) && !add_buffer(&reader, field))
            return false;
    }
    return true;
}
