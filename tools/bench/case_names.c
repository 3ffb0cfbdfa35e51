#include "case_names.h"

#include <stdio.h>
#include <string.h>

#include "../output.h"

enum { NAMES_PER_LINE = 5 };

char *case_names_usage(const char *usage, case_name_at *name_at)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    const char *name;

    if (!stream) {
        output_error("bench: out of memory");
        return NULL;
    }
    fputs(usage, stream);
    for (size_t i = 0; (name = name_at(i)); i++)
        fprintf(stream, "%s%s", i && i % NAMES_PER_LINE == 0 ? "\n       " : " ", name);
    fputc('\n', stream);
    fclose(stream);
    return text;
}

static bool is_case(const char *chosen, case_name_at *name_at)
{
    const char *name;

    for (size_t i = 0; (name = name_at(i)); i++) {
        if (strcmp(name, chosen) == 0)
            return true;
    }
    return false;
}

bool case_names_check(const char *bench, const char *const *chosen, size_t count,
                      case_name_at *name_at)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_case(chosen[i], name_at)) {
            output_error("bench: there is no case '%s' (see gantry bench %s --help)", chosen[i],
                         bench);
            return false;
        }
    }
    return true;
}
