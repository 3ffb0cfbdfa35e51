/* C41: fork() in every state. The child is told so by every call, may exit, and can begin anew; the
 * parent goes on. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "life.h"

enum { SECONDS = 5, SECONDS_ANEW = 40 }; /* to end; for a whole job after a beginning */

static bool is_child;

/* LeakSanitizer asks this at the end of a process: what a child has forgotten is its parent's. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return is_child;
}

void in_child(void (*run)(struct scene *), struct scene *scene)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    CHECK(child >= 0, "fork() failed");
    if (child == 0) {
        is_child = true;
        alarm(SECONDS);
        run(scene);
        fflush(stdout);
        if (refuses_children())
            _exit(0);
        exit(0); /* with the exit handlers of the drivers that the parent uses */
    }
    CHECK(waitpid(child, &status, 0) == child, "the child could not be waited for");
    CHECK(!WIFSIGNALED(status), "the child was ended by signal %d%s", WTERMSIG(status),
          WTERMSIG(status) == SIGALRM ? ": it hung" : "");
    CHECK(WEXITSTATUS(status) == 0, "the child ended with %d", WEXITSTATUS(status));
}

/* ---- Children -------------------------------------------------------------------------------- */

static void do_nothing(struct scene *scene)
{
    (void)scene;
}

static void forget_gantry(struct scene *scene)
{
    gantry_close(&scene->g);
    CHECK(!scene->g, "a parent's gantry is still there after it was closed");
}

/* Drivers of GPUs refuse children of processes that have opened them. That must be a failure like
 * any other, with the reason, and then gantry itself still works. */
static void begin_where_refused(void)
{
    struct gantry_device_params params = {.device = scene_device};
    struct gantry_device *device;
    struct gantry *g;

    OK(gantry_open(NULL, &g));
    if (gantry_device_open(g, &params, &device) != GANTRY_OK) {
        printf("in a forked child: %s\n", gantry_last_error());
        CHECK(strstr(gantry_last_error(), "fork before gantry_open()"), "that is not the reason");
    }
    gantry_close(&g);
}

static void begin_anew(struct scene *scene)
{
    alarm(SECONDS_ANEW);
    if (scene)
        gantry_close(&scene->g); /* forgets the parent's */
    if (scene && refuses_children())
        begin_where_refused();
    else
        scene_whole();
}

static void be_told_and_begin_anew(struct scene *scene)
{
    struct scene forgotten = *scene;

    call_everything(scene);
    begin_anew(&forgotten);
}

/* ---- States ---------------------------------------------------------------------------------- */

/* Nothing was done when the library was loaded. */
static void before_open(void)
{
    in_child(begin_anew, NULL);
    scene_whole();
    CHECK(gantry_version()[0], "there is no version");
}

static void only_opened(void)
{
    struct scene scene = {0};

    OK(gantry_open(NULL, &scene.g));
    in_child(forget_gantry, &scene);
    in_child(begin_anew, &scene);
    gantry_close(&scene.g);
    in_child(begin_anew, &scene); /* whose plugin was closed before the fork */
}

static void after_close(void)
{
    struct scene closed = {0};

    scene_whole();
    in_child(do_nothing, NULL);
    in_child(begin_anew, &closed);
    scene_whole();
}

static void opened(void)
{
    struct scene scene;

    scene_open(&scene, NULL);
    in_child(do_nothing, &scene);
    in_child(call_everything, &scene);
    in_child(begin_anew, &scene);
    scene_start(&scene);
    scene_check(&scene);
    scene_close(&scene);
}

/* Lists run and a batch is open: neither the exit of a child nor its calls may touch them. */
static void working(void)
{
    struct scene scene;

    scene_open(&scene, NULL);
    scene_start(&scene);
    in_child(do_nothing, &scene);
    in_child(call_everything, &scene);
    in_child(be_told_and_begin_anew, &scene);
    scene_check(&scene);
    scene_close(&scene);
}

/* Children of children, with objects of every generation. */
static void fork_again(struct scene *scene)
{
    struct scene own;

    scene_open(&own, NULL);
    in_child(call_everything, &own);
    in_child(call_everything, scene);
    scene_start(&own);
    scene_check(&own);
    scene_close(&own);
}

static void generations(void)
{
    struct scene scene;

    if (refuses_children())
        skip("the driver works in no child of a process that has used it");
    scene_open(&scene, NULL);
    in_child(fork_again, &scene);
    scene_start(&scene);
    scene_check(&scene);
    scene_close(&scene);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static atomic_bool enough;

/* Holds gantry's locks, now this one and now that. */
static void *keep_busy(void *context)
{
    struct scene *scene = context;
    struct gantry_buffer_params params = {.size = 64};
    struct gantry_buffer *buffer;
    struct gantry_point point;
    struct gantry *g;

    while (!atomic_load(&enough)) {
        OK(gantry_queue_fill(scene->queue, scene->busy, 128, 64, 1, &point));
        OK(gantry_wait(point, GANTRY_FOREVER));
        OK(gantry_buffer_create(scene->device, &params, &buffer));
        gantry_buffer_destroy(&buffer);
        OK(gantry_open(NULL, &g));
        gantry_close(&g);
    }
    return NULL;
}

static void *fork_often(void *context)
{
    for (int i = 0; i < 20; i++)
        in_child(i % 4 ? call_everything : be_told_and_begin_anew, context);
    return NULL;
}

static void in_a_thread(void)
{
    struct scene scene;
    pthread_t busy, forking;

    scene_open(&scene, NULL);
    CHECK(pthread_create(&busy, NULL, keep_busy, &scene) == 0 &&
              pthread_create(&forking, NULL, fork_often, &scene) == 0,
          "threads could not be started");
    pthread_join(forking, NULL);
    atomic_store(&enough, true);
    pthread_join(busy, NULL);
    scene_start(&scene);
    scene_check(&scene);
    scene_close(&scene);
}

const struct life_case fork_cases[] = {
    {"fork/before-open", "C41", false, before_open},
    {"fork/only-opened", "C41", false, only_opened},
    {"fork/after-close", "C41", false, after_close},
    {"fork/opened", "C41", false, opened},
    {"fork/working", "C41", false, working},
    {"fork/generations", "C41", false, generations},
    {"fork/in-a-thread", "C41", false, in_a_thread},
    {0},
};
