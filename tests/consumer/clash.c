/* C40: a program that has names of its own which drivers use, and two copies of the library at
 * once, each with its own plugins.
 *
 *     clash LIBRARY OTHER_COPY
 *
 * The first copy is there for everybody to see, as one that the program links is. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <gantry/gantry.h>

static int intruders;

/* Exported with -rdynamic, so that a plugin whose symbols are not its own would call them. */
int vkCreateInstance(void);
int vkEnumerateInstanceVersion(void);
int cuInit(void);

int vkCreateInstance(void)
{
    return ++intruders;
}

int vkEnumerateInstanceVersion(void)
{
    return ++intruders;
}

int cuInit(void)
{
    return ++intruders;
}

#define FUNCTIONS(X)    \
    X(open)             \
    X(close)            \
    X(last_error)       \
    X(device_count)     \
    X(backend_count)    \
    X(backend_describe) \
    X(device_open)      \
    X(device_close)     \
    X(queue_create)     \
    X(buffer_create)    \
    X(buffer_host)      \
    X(queue_fill)       \
    X(queue_submit)     \
    X(wait)

struct copy {
    char folder[1024]; /* of the library, with a '/' behind */
    struct gantry *g;
    struct gantry_device *device;
    struct gantry_buffer *words;
    struct gantry_point point;
#define X(name) __typeof__(gantry_##name) *name;
    FUNCTIONS(X)
#undef X
};

static int load(const char *path, int scope, struct copy *copy)
{
    void *library = dlopen(path, RTLD_NOW | scope);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    snprintf(copy->folder, sizeof(copy->folder), "%.*s", (int)(strrchr(path, '/') + 1 - path),
             path);
#define X(name)                                              \
    *(void **)&copy->name = dlsym(library, "gantry_" #name); \
    if (!copy->name)                                         \
        return 0;
    FUNCTIONS(X)
#undef X
    return 1;
}

/* Each copy has a sentence of its own, also where it reads that itself. */
static int sentences_are_apart(struct copy *first, struct copy *second)
{
    first->open(NULL, NULL);
    second->queue_submit(NULL, NULL, NULL, 0, NULL);
    if (second->open(NULL, &second->g) || !strstr(second->last_error(), "gantry_queue_submit")) {
        fprintf(stderr, "the second copy says: %s\n", second->last_error());
        return 0;
    }
    return strstr(first->last_error(), "gantry_open") != NULL;
}

/* A copy takes the plugins that were installed with it. */
static int plugins_are_own(struct copy *copy)
{
    struct gantry_backend_info info;

    for (uint32_t i = 0; i < copy->backend_count(copy->g); i++) {
        if (copy->backend_describe(copy->g, i, &info))
            return 0;
        if (info.path && strncmp(info.path, copy->folder, strlen(copy->folder)) != 0) {
            fprintf(stderr, "%s has loaded %s\n", copy->folder, info.path);
            return 0;
        }
    }
    return 1;
}

/* Starts work on the first device, where there is one. */
static int start(struct copy *copy, uint32_t word)
{
    struct gantry_buffer_params params = {.size = 4096, .memory = GANTRY_MEMORY_READBACK};
    struct gantry_queue *queue;

    if (copy->device_count(copy->g) == 0)
        return 1;
    if (copy->device_open(copy->g, NULL, &copy->device) ||
        copy->queue_create(copy->device, NULL, &queue) ||
        copy->buffer_create(copy->device, &params, &copy->words) ||
        copy->queue_fill(queue, copy->words, 0, 4096, word, &copy->point)) {
        fprintf(stderr, "%s: %s\n", copy->folder, copy->last_error());
        return 0;
    }
    return 1;
}

static int end(struct copy *copy, uint32_t word)
{
    int right = !copy->device || (copy->wait(copy->point, GANTRY_FOREVER) == GANTRY_OK &&
                                  *(uint32_t *)copy->buffer_host(copy->words) == word);

    if (!right)
        fprintf(stderr, "%s: the work went wrong: %s\n", copy->folder, copy->last_error());
    copy->device_close(&copy->device);
    copy->close(&copy->g);
    return right;
}

int main(int argc, char **argv)
{
    static struct copy copies[2];
    uint32_t counts[2];
    int right = 1;

    if (argc != 3 || !load(argv[1], RTLD_GLOBAL, &copies[0]) ||
        !load(argv[2], RTLD_LOCAL, &copies[1]))
        return 1;
    if (copies[0].open == copies[1].open) {
        fprintf(stderr, "the two copies are one\n");
        return 1;
    }
    if (!sentences_are_apart(&copies[0], &copies[1]) || copies[0].open(NULL, &copies[0].g))
        return 1;
    for (uint32_t i = 0; i < 2; i++) {
        right = right && plugins_are_own(&copies[i]) && start(&copies[i], i + 1);
        counts[i] = copies[i].device_count(copies[i].g);
    }
    printf("%u and %u devices, %d calls of the program's own names\n", counts[0], counts[1],
           intruders);
    right = end(&copies[0], 1) && right; /* while the other one works */
    right = end(&copies[1], 2) && right;
    return !right || counts[0] != counts[1] || intruders != 0;
}
