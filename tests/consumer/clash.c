/* C40: a program that has names of its own which drivers use, and two copies of the library at
 * once.
 *
 *     clash LIBRARY OTHER_COPY */
#include <dlfcn.h>
#include <stdio.h>

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

struct copy {
    enum gantry_status (*open)(const struct gantry_params *, struct gantry **);
    void (*close)(struct gantry **);
    uint32_t (*device_count)(struct gantry *);
    const char *(*last_error)(void);
    struct gantry *g;
};

static int load(const char *path, struct copy *copy)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    *(void **)&copy->open = dlsym(library, "gantry_open");
    *(void **)&copy->close = dlsym(library, "gantry_close");
    *(void **)&copy->device_count = dlsym(library, "gantry_device_count");
    *(void **)&copy->last_error = dlsym(library, "gantry_last_error");
    return copy->open && copy->close && copy->device_count && copy->last_error;
}

int main(int argc, char **argv)
{
    struct copy copies[2] = {{0}};
    uint32_t counts[2];

    if (argc != 3 || !load(argv[1], &copies[0]) || !load(argv[2], &copies[1]))
        return 1;
    if (copies[0].open == copies[1].open) {
        fprintf(stderr, "the two copies are one\n");
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        if (copies[i].open(NULL, &copies[i].g)) {
            fprintf(stderr, "copy %d: %s\n", i, copies[i].last_error());
            return 1;
        }
        counts[i] = copies[i].device_count(copies[i].g);
    }
    printf("%u and %u devices, %d calls of the program's own names\n", counts[0], counts[1],
           intruders);
    copies[0].close(&copies[0].g);
    if (copies[1].device_count(copies[1].g) != counts[1])
        intruders++;
    copies[1].close(&copies[1].g);
    return counts[0] != counts[1] || intruders != 0;
}
