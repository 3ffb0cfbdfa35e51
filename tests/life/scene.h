/* gantry with a device, objects of every kind, and work that takes a while.
 *
 * What fails ends the process: die() prints the reason and leaves by _exit(1). */
#ifndef GANTRY_TESTS_LIFE_SCENE_H
#define GANTRY_TESTS_LIFE_SCENE_H

#include <stdnoreturn.h>

#include <gantry/gantry.h>

enum { CELLS = 256, REPLAYS = 3 };

struct scene {
    struct gantry *g;
    struct gantry_device *device;
    struct gantry_queue *queue, *other;
    struct gantry_module *module;
    struct gantry_kernel *spin, *step;
    struct gantry_buffer *busy, *cells, *upload;
    struct gantry_list *list; /* finished: keeps the device busy, changes the cells, downloads */
    struct gantry_point replayed, streamed;
    uint32_t found[CELLS]; /* what the list downloads */
    uint32_t patchable;    /* a command of the list */
};

/* Which device scenes open: a selector; NULL: what the configuration says. */
extern const char *scene_device;

/* Zeroes the scene and makes its objects. The policy is INI text, or NULL. */
void scene_open(struct scene *scene, const char *policy);

/* Leaves work behind: replays of the list on one queue, an open batch on the other. */
void scene_start(struct scene *scene);

/* Waits for that work and sees that it is right. */
void scene_check(struct scene *scene);

/* Destroys the objects, and closes the device and gantry. */
void scene_close(struct scene *scene);

/* A little work from the first call to the last. */
void scene_whole(void);

noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A call that must succeed, a condition that must hold. */
#define OK(call) must(#call, call)
void must(const char *call, enum gantry_status status);
#define CHECK(condition, ...) \
    do {                      \
        if (!(condition))     \
            die(__VA_ARGS__); \
    } while (0)

#endif
