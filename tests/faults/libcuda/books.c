/* The books: calls, planned failures, faults, objects; and the report of them. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "standin.h"

#define X(member, base, pinned, suffix, need, prototype) #member,
const char *const entry_names[ENTRY_COUNT] = {CUDA_DRIVER_MAP(X) EXTRA_MAP(X)};
#undef X

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t calls[ENTRY_COUNT];
static bool initialised;
static bool
    broken; /* some context was: graphs, which belong to none, could not be destroyed then */

/* ---- Faults ---------------------------------------------------------------------------------- */

static char **faults;
static size_t fault_count;

void fault(const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    char **grown = realloc(faults, (fault_count + 1) * sizeof(*faults));
    if (!grown)
        return;
    faults = grown;
    faults[fault_count] = strdup(text);
    fault_count += faults[fault_count] != NULL;
}

/* ---- Planned failures ------------------------------------------------------------------------ */

/* Looks for NAME:COUNT[+]:CODE, separated by commas, in STANDIN_FAIL. */
static CUresult planned(enum entry entry)
{
    const char *at = getenv("STANDIN_FAIL");
    size_t length = strlen(entry_names[entry]);
    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : "") {
        if (strncmp(at, entry_names[entry], length) != 0 || at[length] != ':')
            continue;
        char *end;
        uint64_t first = strtoull(at + length + 1, &end, 10);
        bool onwards = *end == '+';
        end += onwards;
        if (*end == ':' && (calls[entry] == first || (onwards && calls[entry] > first)))
            return (CUresult)strtol(end + 1, NULL, 10);
    }
    return CUDA_SUCCESS;
}

static bool is_sticky(CUresult result)
{
    return (result >= CUDA_ERROR_ILLEGAL_ADDRESS && result <= CUDA_ERROR_LAUNCH_FAILED) ||
           result == CUDA_ERROR_ECC_UNCORRECTABLE;
}

void poison_with(struct CUctx_st *context, CUresult result)
{
    context->poison = result;
    broken = true;
}

CUresult poisoned(const struct CUctx_st *context)
{
    return context ? context->poison : CUDA_SUCCESS;
}

/* Entries that have nothing to do with the current context: the table begins with them. */
static bool is_outside(enum entry entry)
{
    return entry <= ENTRY_cuCtxPopCurrent || entry == ENTRY_cuCtxSetCurrent;
}

/* ---- Visits ---------------------------------------------------------------------------------- */

struct visit visit_enter(enum entry entry, bool needs_init)
{
    struct visit visit = {CUDA_SUCCESS};
    pthread_mutex_lock(&lock);
    settings();
    calls[entry]++;
    visit.result = planned(entry);
    if (is_sticky(visit.result))
        contexts_break(visit.result);
    if (visit.result == CUDA_SUCCESS && needs_init) {
        if (!initialised)
            visit.result = MISUSE(STANDIN_NOT_INITIALIZED, "%s before cuInit", entry_names[entry]);
        else if (!is_outside(entry))
            visit.result = poisoned(context_current());
    }
    return visit;
}

void visit_leave(const struct visit *visit)
{
    (void)visit;
    pthread_mutex_unlock(&lock);
}

CUresult cuInit(unsigned flags)
{
    VISIT_ANYTIME(cuInit);
    if (flags != 0)
        return MISUSE(STANDIN_INVALID_VALUE, "cuInit with flags %u", flags);
    initialised = true;
    return settings()->device_count > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static struct object *all; /* the living */
static struct object *dead;

const char *kind_name(enum kind kind)
{
    static const char *const names[KIND_COUNT] = {"memory", "stream", "event",
                                                  "module", "graph",  "executable graph"};
    return names[kind];
}

struct object *objects(void)
{
    return all;
}

void object_add(struct object *object, enum kind kind, struct CUctx_st *context)
{
    object->next = all;
    object->context = context;
    object->kind = kind;
    object->alive = true;
    all = object;
}

bool object_check(const struct object *object, enum kind kind, const struct CUctx_st *context)
{
    if (!object)
        fault("NULL was given as a %s", kind_name(kind));
    else if (object->kind != kind)
        fault("a %s was given as a %s", kind_name(object->kind), kind_name(kind));
    else if (!object->alive)
        fault("a %s was used after it had been destroyed", kind_name(kind));
    else if (context && object->context != context)
        fault("a %s was used with another context current", kind_name(kind));
    else
        return true;
    return false;
}

void object_kill(struct object *object)
{
    struct object **link = &all;
    while (*link != object)
        link = &(*link)->next;
    *link = object->next;
    object->alive = false;
    object->next = dead;
    dead = object;
}

/* ---- The report ------------------------------------------------------------------------------ */

static void find_leaks(void)
{
    uint64_t left[KIND_COUNT] = {0};
    for (const struct object *object = all; object; object = object->next)
        left[object->kind] += object->context ? !poisoned(object->context) : !broken;
    for (int kind = 0; kind < KIND_COUNT; kind++)
        if (left[kind])
            fault("leaked: %llu of kind %s", (unsigned long long)left[kind],
                  kind_name((enum kind)kind));
    contexts_close();
}

static void write_report(FILE *file)
{
    for (size_t i = 0; i < fault_count; i++)
        fprintf(file, "fault: %s\n", faults[i]);
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (calls[i])
            fprintf(file, "calls: %s %llu\n", entry_names[i], (unsigned long long)calls[i]);
}

/* For tests that load this library themselves. */
EXPORT uint64_t standin_calls(const char *name);
uint64_t standin_calls(const char *name)
{
    uint64_t count = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (strcmp(entry_names[i], name) == 0)
            count = calls[i];
    pthread_mutex_unlock(&lock);
    return count;
}

EXPORT size_t standin_faults(void);
size_t standin_faults(void)
{
    pthread_mutex_lock(&lock);
    size_t count = fault_count;
    pthread_mutex_unlock(&lock);
    return count;
}

EXPORT const char *standin_fault(size_t i);
const char *standin_fault(size_t i)
{
    pthread_mutex_lock(&lock);
    const char *text = i < fault_count ? faults[i] : NULL;
    pthread_mutex_unlock(&lock);
    return text;
}

static pid_t opener;

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void release_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/* A child that is forked while another thread is in here gets whole books and a free lock. */
__attribute__((constructor)) static void at_load(void)
{
    opener = getpid();
    pthread_atfork(take_lock, release_lock, release_lock);
}

/* At the process's end what is left has leaked; in a broken context nothing could be freed.
 * STANDIN_STRICT turns faults into the exit status, so that no test can forget to look. */
__attribute__((destructor)) static void at_exit(void)
{
    const char *path = getenv("STANDIN_REPORT");
    if (getpid() != opener)
        return; /* a forked child: the books are its parent's */
    find_leaks();
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        write_report(file);
        fclose(file);
    }
    if (!settings()->strict || fault_count == 0)
        return;
    fflush(NULL);
    for (size_t i = 0; i < fault_count; i++)
        fprintf(stderr, "stand-in libcuda: %s\n", faults[i]);
    fflush(stderr);
    _exit(70);
}
