/* Allocation failure in turn: an object for LD_PRELOAD that counts what gantry allocates, lets one
 * of these calls fail, and keeps books of what is not given back.
 *
 * Only calls from the code of libgantry and of its plugins count: a driver, libc or the program may
 * handle failures as they like. FAULTS_MALLOC_FAIL is COUNT[+], as in the other plans;
 * FAULTS_MALLOC_REPORT a file that gets the report at the process's end: a line "fault: …" for what
 * was left, a line "calls: allocation COUNT". */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <link.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t calls;

/* ---- The real functions ---------------------------------------------------------------------- */

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);

/* dlsym() itself allocates a little before there is anything to call: never given back. */
static char early[4096];
static size_t early_used;

static bool is_early(const void *memory)
{
    return (const char *)memory >= early && (const char *)memory < early + sizeof(early);
}

static void *allocate_early(size_t size)
{
    char *memory = early + early_used;

    early_used += (size + 15) & ~(size_t)15;
    return early_used <= sizeof(early) ? memory : NULL;
}

static bool resolve(void)
{
    static bool busy;

    if (real_free)
        return true;
    if (busy)
        return false;
    busy = true;
    *(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&real_free = dlsym(RTLD_NEXT, "free");
    busy = false;
    return true;
}

/* ---- Who calls ------------------------------------------------------------------------------- */

/* dladdr() would look for a symbol as well, which takes long in large drivers. */
static bool is_gantry(void *caller)
{
    struct dl_find_object found;
    const char *path, *name;

    if (_dl_find_object(caller, &found) != 0)
        return false;
    path = found.dlfo_link_map->l_name;
    name = strrchr(path, '/');
    name = name ? name + 1 : path;
    return strncmp(name, "libgantry.", 10) == 0 || strncmp(name, "gantry-", 7) == 0;
}

/* ---- The books: an open hash table of addresses ---------------------------------------------- */

enum { SLOTS = 1 << 16 };

/* Addresses are kept complemented, or LeakSanitizer would find here what nobody else points to. */
static struct {
    uintptr_t hidden; /* 0: empty */
    void *caller;
} slots[SLOTS];
static uint32_t live;

static uint32_t slot_of(uintptr_t hidden)
{
    return (uint32_t)(hidden >> 4) * 2654435761u % SLOTS;
}

static void enter(void *memory, void *caller)
{
    uint32_t i = slot_of(~(uintptr_t)memory);

    pthread_mutex_lock(&lock);
    while (slots[i].hidden && live < SLOTS - 1)
        i = (i + 1) % SLOTS;
    slots[i].hidden = ~(uintptr_t)memory;
    slots[i].caller = caller;
    live++;
    pthread_mutex_unlock(&lock);
}

/* Closes the gap, so that no search ends early. */
static void remove_slot(uint32_t gap)
{
    for (uint32_t i = (gap + 1) % SLOTS; slots[i].hidden; i = (i + 1) % SLOTS) {
        uint32_t home = slot_of(slots[i].hidden);

        if ((i - home) % SLOTS < (i - gap) % SLOTS)
            continue;
        slots[gap] = slots[i];
        gap = i;
    }
    slots[gap].hidden = 0;
    live--;
}

/* Memory of gantry's may be freed by others, and theirs by gantry. */
static void leave(const void *memory)
{
    const uintptr_t hidden = ~(uintptr_t)memory;

    pthread_mutex_lock(&lock);
    for (uint32_t i = slot_of(hidden); slots[i].hidden; i = (i + 1) % SLOTS) {
        if (slots[i].hidden != hidden)
            continue;
        remove_slot(i);
        break;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- The plan -------------------------------------------------------------------------------- */

/* Counts a call of gantry's; true: it is to fail. */
static bool fails(void)
{
    const char *plan = getenv("FAULTS_MALLOC_FAIL");
    uint64_t call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED), planned;
    char *end;

    if (!plan)
        return false;
    planned = strtoull(plan, &end, 10);
    if (planned == 0 || call < planned || (call > planned && *end != '+'))
        return false;
    errno = ENOMEM;
    return true;
}

static void *note(void *memory, void *caller)
{
    if (memory)
        enter(memory, caller);
    return memory;
}

/* ---- What gantry may call -------------------------------------------------------------------- */

EXPORT void *malloc(size_t size)
{
    if (!resolve())
        return allocate_early(size);
    if (!is_gantry(CALLER))
        return real_malloc(size);
    return fails() ? NULL : note(real_malloc(size), CALLER);
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (!resolve())
        return allocate_early(count * size);
    if (!is_gantry(CALLER))
        return real_calloc(count, size);
    return fails() ? NULL : note(real_calloc(count, size), CALLER);
}

EXPORT void *realloc(void *memory, size_t size)
{
    void *grown;

    resolve();
    if (!is_gantry(CALLER))
        return real_realloc(memory, size);
    if (fails())
        return NULL;
    if (memory)
        leave(memory);
    grown = real_realloc(memory, size);
    return note(grown ? grown : memory, CALLER) && grown ? grown : NULL;
}

EXPORT void free(void *memory)
{
    if (!memory || is_early(memory))
        return;
    resolve();
    leave(memory);
    real_free(memory);
}

/* libc's own would call malloc from libc. */
EXPORT char *strndup(const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    bool ours = is_gantry(CALLER);
    char *copy;

    resolve();
    if (ours && fails())
        return NULL;
    copy = real_malloc(length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return ours ? note(copy, CALLER) : copy;
}

EXPORT char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    bool ours = is_gantry(CALLER);
    char *copy;

    resolve();
    if (ours && fails())
        return NULL;
    copy = real_malloc(size);
    if (!copy)
        return NULL;
    memcpy(copy, text, size);
    return ours ? note(copy, CALLER) : copy;
}

#define NEXT(function) (*(void **)&next = dlsym(RTLD_NEXT, function))

EXPORT int vasprintf(char **text, const char *format, va_list args)
{
    int (*next)(char **, const char *, va_list);
    int length;

    if (is_gantry(CALLER) && fails())
        return -1;
    NEXT("vasprintf");
    length = next(text, format, args);
    if (length >= 0 && is_gantry(CALLER))
        enter(*text, CALLER);
    return length;
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *);

    if (is_gantry(CALLER) && fails())
        return NULL;
    NEXT("fopen");
    return next(path, mode);
}

EXPORT char *realpath(const char *path, char *resolved)
{
    char *(*next)(const char *, char *);
    char *found;

    if (is_gantry(CALLER) && fails())
        return NULL;
    NEXT("realpath");
    found = next(path, resolved);
    return found && is_gantry(CALLER) ? note(found, CALLER) : found;
}

EXPORT DIR *opendir(const char *path)
{
    DIR *(*next)(const char *);

    if (is_gantry(CALLER) && fails())
        return NULL;
    NEXT("opendir");
    return next(path);
}

EXPORT int scandir(const char *path, struct dirent ***entries, int (*filter)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **))
{
    int (*next)(const char *, struct dirent ***, int (*)(const struct dirent *),
                int (*)(const struct dirent **, const struct dirent **));

    if (is_gantry(CALLER) && fails())
        return -1;
    NEXT("scandir");
    return next(path, entries, filter, compare);
}

/* ---- The report ------------------------------------------------------------------------------ */

static void write_leak(FILE *file, void *caller)
{
    Dl_info info;
    bool known = dladdr(caller, &info) != 0;

    fprintf(file, "fault: leaked: memory that was allocated at %s+0x%zx\n",
            known && info.dli_fname ? info.dli_fname : "an unloaded library",
            known ? (size_t)((char *)caller - (char *)info.dli_fbase) : 0);
}

__attribute__((destructor)) static void at_exit(void)
{
    const char *path = getenv("FAULTS_MALLOC_REPORT");
    FILE *file;

    if (!path)
        return;
    file = fopen(path, "w");
    if (!file)
        return;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (slots[i].hidden)
            write_leak(file, slots[i].caller);
    fprintf(file, "calls: allocation %llu\n", (unsigned long long)calls);
    fclose(file);
}
