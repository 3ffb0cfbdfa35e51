/* The end of a process: with everything open, and with gantry used after main. */
#include <stdlib.h>
#include <unistd.h>

#include "end.h"

/* Outlives main, as what a program keeps for its exit handlers does. */
static struct scene kept;

static void open_and_start(void)
{
    scene_open(&kept, NULL);
    scene_start(&kept);
}

/* From a function that did not expect it. */
static void by_exit(void)
{
    open_and_start();
    exit(0);
}

static void by_quick_exit(void)
{
    open_and_start();
    quick_exit(0);
}

/* The case returns to main, and main to its caller, with lists running and a batch open. */
static void by_return(void)
{
    open_and_start();
}

/* ---- After main ------------------------------------------------------------------------------
 *
 * An exit handler that was registered before gantry was opened runs after those of the drivers. A
 * driver that has gone may refuse everything; nothing may crash or hang. */
static void close_kept(void)
{
    gantry_close(&kept.g);
}

static void use_and_close_kept(void)
{
    uint32_t word = 5;

    if (gantry_queue_upload(kept.queue, kept.cells, 0, &word, 4, NULL) == GANTRY_OK)
        gantry_wait(kept.replayed, GANTRY_FOREVER);
    gantry_poll(kept.streamed);
    scene_close(&kept);
}

/* The drivers' own handlers are still to come. */
static void handler_after_opening(void)
{
    open_and_start();
    CHECK(atexit(use_and_close_kept) == 0, "no exit handler could be registered");
}

static void handler_before_opening(void)
{
    CHECK(atexit(close_kept) == 0, "no exit handler could be registered");
    open_and_start();
}

static void handler_uses_before_closing(void)
{
    CHECK(atexit(use_and_close_kept) == 0, "no exit handler could be registered");
    open_and_start();
}

static void open_late(void)
{
    struct gantry *g;

    OK(gantry_open(NULL, &g)); /* its devices may be gone, gantry is not */
    gantry_device_count(g);
    gantry_close(&g);
}

static void handler_opens(void)
{
    CHECK(atexit(open_late) == 0, "no exit handler could be registered");
    scene_whole();
}

/* The object of destructor.cpp was made before main, so that it goes after the handlers above. */
static void static_object(void)
{
    open_and_start();
    destructor_keep(use_and_close_kept);
}

static void static_object_of_a_function(void)
{
    destructor_make_late(close_kept);
    open_and_start();
}

const struct life_case end_cases[] = {
    {"end/exit", NULL, true, by_exit},
    {"end/quick-exit", NULL, true, by_quick_exit},
    {"end/return", NULL, true, by_return},
    {"end/handler-after-opening", NULL, true, handler_after_opening},
    {"end/handler-before-opening", NULL, true, handler_before_opening},
    {"end/handler-uses", NULL, true, handler_uses_before_closing},
    {"end/handler-opens", NULL, true, handler_opens},
    {"end/static-object", NULL, true, static_object},
    {"end/static-object-of-a-function", NULL, true, static_object_of_a_function},
    {0},
};
