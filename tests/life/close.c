/* Closing while work is pending, in every order that the header allows. */
#include "life.h"

static void queues_first(void)
{
    struct scene scene;

    scene_open(&scene, NULL);
    scene_start(&scene);
    gantry_queue_destroy(&scene.queue);
    gantry_queue_destroy(&scene.other);
    CHECK(scene.found[0] != 0, "a queue went before its downloads were delivered");
    scene_close(&scene);
}

/* The device takes with it whatever it still has. */
static void device_first(void)
{
    struct scene scene;

    scene_open(&scene, NULL);
    scene_start(&scene);
    gantry_device_close(&scene.device);
    CHECK(scene.found[0] != 0, "the device went before its downloads were delivered");
    gantry_close(&scene.g);
}

static void gantry_first(void)
{
    struct scene scene;

    scene_open(&scene, NULL);
    scene_start(&scene);
    gantry_close(&scene.g);
    CHECK(scene.found[0] != 0, "gantry went before its downloads were delivered");
}

/* What a list launches, and the list itself, may go while it runs. */
static void objects_first(void)
{
    struct scene scene;

    scene_open(&scene, NULL);
    scene_start(&scene);
    gantry_module_unload(&scene.module);
    gantry_kernel_destroy(&scene.spin);
    gantry_kernel_destroy(&scene.step);
    gantry_list_destroy(&scene.list);
    gantry_buffer_destroy(&scene.busy);
    gantry_buffer_destroy(&scene.cells);
    scene_check(&scene);
    scene_close(&scene);
}

/* The list goes, its queue goes, and the device is asked for something else. */
static void list_then_queue(void)
{
    struct scene scene;
    struct gantry_queue *queue;
    struct gantry_point point;

    scene_open(&scene, NULL);
    scene_start(&scene);
    gantry_list_destroy(&scene.list);
    gantry_queue_destroy(&scene.queue);
    OK(gantry_queue_create(scene.device, NULL, &queue));
    OK(gantry_queue_fill(queue, scene.cells, 0, 4, 1, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    gantry_queue_destroy(&queue);
    scene_close(&scene);
}

/* A list whose recording was never ended, one that failed, and an open batch. */
static void half_made(void)
{
    struct scene scene;
    struct gantry_list *open, *failed;

    scene_open(&scene, NULL);
    OK(gantry_list_create(scene.device, NULL, &open));
    OK(gantry_list_begin_concurrent(open));
    CHECK(gantry_list_fill(open, scene.cells, 0, 4, 1), "a fill was refused");
    OK(gantry_list_create(scene.device, NULL, &failed));
    CHECK(!gantry_list_fill(failed, scene.cells, 1, 4, 1), "a fill at an odd offset was taken");
    scene_start(&scene);
    gantry_close(&scene.g);
}

static void twice(void)
{
    struct scene scene;

    scene_open(&scene, NULL);
    scene_close(&scene);
    scene_close(&scene);
    gantry_close(NULL);
    gantry_device_close(NULL);
}

const struct life_case close_cases[] = {
    {"close/queues-first", NULL, false, queues_first},
    {"close/device-first", NULL, false, device_first},
    {"close/gantry-first", NULL, false, gantry_first},
    {"close/objects-first", NULL, false, objects_first},
    {"close/list-then-queue", NULL, false, list_then_queue},
    {"close/half-made", NULL, false, half_made},
    {"close/twice", NULL, false, twice},
    {0},
};
