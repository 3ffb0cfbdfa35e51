#include "includes.h"

#include <stdio.h>
#include <string.h>

#include "file.h"

/* The name in an #include on the line at `line`; NULL when it is none. Conditions do not count: a
 * file too many does no harm. */
static const char *included_name(struct pool *pool, const char *line, bool *quoted)
{
    line += strspn(line, " \t");
    if (*line++ != '#')
        return NULL;
    line += strspn(line, " \t");
    if (strncmp(line, "include", 7))
        return NULL;
    line += 7 + strspn(line + 7, " \t");
    *quoted = *line == '"';
    size_t size = strcspn(line + 1, *quoted ? "\"\n" : ">\n");
    if ((*line != '"' && *line != '<') || line[size + 1] == '\n' || !line[size + 1])
        return NULL;
    return pool_copy(pool, line + 1, size);
}

/* Where the compilers find it: beside the file that includes it, then in the folders. NULL:
 * nowhere. */
static const char *find_file(struct unit *unit, const struct settings *settings, const char *from,
                             const char *name, bool quoted)
{
    const char *path = pool_print(unit->pool, "%s/%s", path_folder(unit->pool, from), name);
    if (quoted && file_exists(path))
        return path;
    for (size_t i = 0; i < settings->folder_count; i++) {
        path = pool_print(unit->pool, "%s/%s", settings->folders[i], name);
        if (file_exists(path))
            return path;
    }
    return NULL;
}

static bool add_include(struct unit *unit, const char *name, const char *path)
{
    for (size_t i = 0; i < unit->include_count; i++) {
        if (strcmp(unit->includes[i].name, name))
            continue;
        if (!strcmp(unit->includes[i].path, path))
            return true;
        fprintf(stderr,
                "gantry: compile: %s and %s are both included as \"%s\": give one another name\n",
                unit->includes[i].path, path, name);
        return false;
    }
    unit->includes =
        pool_grow(unit->pool, unit->includes, unit->include_count, sizeof(*unit->includes));
    unit->includes[unit->include_count++] = (struct include){name, path};
    return true;
}

static bool scan_file(struct unit *unit, const struct settings *settings, const char *path)
{
    struct text text = text_new(unit->pool);
    if (!file_read(path, &text))
        return false;
    const char *next;
    for (const char *line = text.data; *line; line = next) {
        bool quoted;
        const char *name = included_name(unit->pool, line, &quoted);
        const char *found = name ? find_file(unit, settings, path, name, quoted) : NULL;
        if (found && !add_include(unit, name, found))
            return false;
        next = strchrnul(line, '\n');
        next += *next == '\n';
    }
    return true;
}

bool find_includes(struct unit *unit, const struct settings *settings)
{
    const char *kernel = find_file(unit, settings, unit->path, "gantry/kernel.h", false);
    if (!add_include(unit, path_name(unit->path), unit->path) ||
        !add_include(unit, "gantry/kernel.h", kernel))
        return false;
    /* The list grows while it is walked. */
    for (size_t i = 0; i < unit->include_count; i++)
        if (!scan_file(unit, settings, unit->includes[i].path))
            return false;
    return true;
}
