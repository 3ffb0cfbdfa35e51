/* The end of a process: with everything open, and with gantry used after main. */
#include <stdlib.h>
#include <string.h>
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
 * An exit handler that was registered before gantry was opened runs after those of the drivers, and
 * is refused everything; one that was registered later comes before them, and may do everything. */
static void close_kept(void)
{
    gantry_close(&kept.g);
    CHECK(!kept.g, "gantry is still there after it was closed");
}

static void expect_refused(const char *call, enum gantry_status status)
{
    CHECK(status == GANTRY_E_INVALID_STATE, "%s returns %s", call, gantry_status_name(status));
    CHECK(strstr(gantry_last_error(), "the process is ending"), "%s leaves the sentence \"%s\"",
          call, gantry_last_error());
}

#define REFUSED(call) expect_refused(#call, call)

static void use_in_vain(void)
{
    struct gantry_buffer_params params = {.size = 4};
    struct gantry_buffer *buffer;
    uint32_t word = 5;

    REFUSED(gantry_queue_upload(kept.queue, kept.cells, 0, &word, 4, NULL));
    REFUSED(gantry_wait(kept.replayed, GANTRY_FOREVER));
    REFUSED(gantry_poll(kept.streamed));
    REFUSED(gantry_buffer_create(kept.device, &params, &buffer));
    REFUSED(gantry_device_open(kept.g, NULL, &kept.device));
    scene_close(&kept);
}

static void use_and_close_kept(void)
{
    scene_check(&kept);
    scene_close(&kept);
    scene_whole();
}

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
    CHECK(atexit(use_in_vain) == 0, "no exit handler could be registered");
    open_and_start();
}

static void open_late(void)
{
    struct gantry *g;

    REFUSED(gantry_open(NULL, &g));
    CHECK(!g, "a refused gantry_open() leaves a handle");
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
    destructor_keep(use_in_vain);
}

static void static_object_of_a_function(void)
{
    destructor_make_late(close_kept);
    open_and_start();
}

/* It goes before the drivers do. */
static void static_object_made_after_opening(void)
{
    open_and_start();
    destructor_make_late(use_and_close_kept);
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
    {"end/static-object-after-opening", NULL, true, static_object_made_after_opening},
    {0},
};
