/* The attributes that say something of one pointer of the arguments. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* The member of the argument struct, by name; -1 when there is none. */
static int find_member(const struct kernel *kernel, const char *name)
{
    for (size_t i = 0; i < kernel->args->field_count; i++)
        if (!strcmp(kernel->args->fields[i].name, name))
            return (int)i;
    return -1;
}

static struct pointer *find_pointer(struct unit *unit, struct kernel *kernel, struct place place,
                                    const char *what, const char *name)
{
    if (!kernel->pointers)
        return NULL; /* that was a mistake already */
    int member = find_member(kernel, name);
    if (member >= 0 && !strcmp(kernel->args->fields[member].type, "PTR"))
        return &kernel->pointers[member];
    mistake(unit, place, "%s(%s): %s has no pointer of this name", what, name, kernel->args->name);
    return NULL;
}

void scan_may_be_null(struct unit *unit, struct kernel *kernel, struct place place,
                      const char *text)
{
    struct pointer *pointer = find_pointer(unit, kernel, place, "MAY_BE_NULL", text);
    if (pointer && pointer->may_be_null)
        mistake(unit, place, "MAY_BE_NULL(%s) is given twice", text);
    else if (pointer)
        pointer->may_be_null = true;
}

static bool is_count(const struct field *field)
{
    static const char *const types[] = {"int", "uint", "int64", "uint64"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcmp(field->type, types[i]))
            return !field->array;
    return false;
}

static bool read_factor(const struct kernel *kernel, const char *text, struct factor *factor)
{
    char *end = NULL;
    *factor = (struct factor){.field = find_member(kernel, text)};
    if (factor->field >= 0)
        return is_count(&kernel->args->fields[factor->field]);
    factor->number = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    return end && *end == 0 && factor->number > 0;
}

void scan_reach(struct unit *unit, struct kernel *kernel, struct place place, const char *text)
{
    size_t size = strcspn(text, ",");
    const char *name = pool_copy(unit->pool, text, size), *rest = text + size;
    struct pointer *pointer = find_pointer(unit, kernel, place, "REACH", name);
    if (pointer && pointer->reach_count)
        mistake(unit, place, "REACH(%s, …) is given twice", name);
    if (!pointer || pointer->reach_count)
        return;
    for (bool first = true; *rest == (first ? ',' : '*'); first = false, rest += size + 1) {
        size = strcspn(rest + 1, "*");
        const char *factor = pool_copy(unit->pool, rest + 1, size);
        if (pointer->reach_count == MAX_FACTORS ||
            !read_factor(kernel, factor, &pointer->reach[pointer->reach_count++]))
            break;
    }
    if (*rest || !pointer->reach_count)
        mistake(unit, place,
                "REACH(%s): write REACH(pointer, a), a * b or a * b * c, where each is an integer "
                "member of %s or a whole number",
                text, kernel->args->name);
}
