/* fork(): a child that inherits open objects is told so, and can begin anew. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conform.h"
#include "launch.h"

#define SECONDS 20

/* Runs a function in a child, with a time limit; its result is the child's exit status. */
static int in_child(struct conform *c, int (*function)(struct conform *))
{
    pid_t child = fork();
    int status = 0;

    CHECK(child >= 0, "fork() failed");
    if (child == 0) {
        alarm(SECONDS);
        _exit(function(c));
    }
    CHECK(waitpid(child, &status, 0) == child, "the child could not be waited for");
    CHECK(!WIFSIGNALED(status), "the child was ended by signal %d%s", WTERMSIG(status),
          WTERMSIG(status) == SIGALRM ? ": it hung" : "");
    return WEXITSTATUS(status);
}

static struct gantry_list *inherited_list;
static struct gantry_buffer *inherited_buffer;
static struct gantry_point inherited_point;

/* The number of the first call that does not say GANTRY_E_FORKED; 0: all do. */
static int use_everything(struct conform *c)
{
    struct gantry_buffer_params params = {.size = 4};
    struct gantry_buffer *buffer;
    struct gantry_queue *queue;
    struct gantry_list *list;

    if (gantry_queue_submit(c->queue, inherited_list, NULL, 0, NULL) != GANTRY_E_FORKED)
        return 1;
    if (strlen(gantry_last_error()) == 0)
        return 2;
    if (gantry_wait(inherited_point, GANTRY_FOREVER) != GANTRY_E_FORKED)
        return 3;
    if (gantry_poll(inherited_point) != GANTRY_E_FORKED)
        return 4;
    if (gantry_buffer_create(c->device, &params, &buffer) != GANTRY_E_FORKED)
        return 5;
    if (gantry_queue_create(c->device, NULL, &queue) != GANTRY_E_FORKED)
        return 6;
    if (gantry_list_create(c->device, NULL, &list) != GANTRY_E_FORKED)
        return 7;
    if (gantry_list_fill(inherited_list, inherited_buffer, 0, 4, 0) != 0)
        return 8;
    gantry_list_destroy(&inherited_list);
    gantry_buffer_destroy(&inherited_buffer);
    gantry_queue_destroy(&c->queue);
    gantry_device_close(&c->device);
    gantry_close(&c->g);
    return 0;
}

/* Work is pending in the parent while the child looks at it. */
static void forked_children_are_told(struct conform *c)
{
    struct gantry_kernel *step = make_kernel(c, "launch", "step");
    struct step_args args = {.n = 1, .add = 1};
    uint32_t found = 0, expected = 0;
    int failed;

    inherited_buffer = make_buffer(c, 4);
    inherited_list = make_list(c);
    args.cells = gantry_buffer_address(inherited_buffer);
    for (int i = 0; i < 100; i++) {
        LAUNCH(inherited_list, step, 1, &args);
        expected = expected * 3 + 1;
    }
    finish(c, inherited_list);
    inherited_point = submit(c, inherited_list);
    failed = in_child(c, use_everything);
    CHECK(failed == 0, "step %d of the child went wrong", failed);
    OK(gantry_wait(inherited_point, GANTRY_FOREVER));
    read_buffer(c, inherited_buffer, 0, &found, 4);
    EQUAL(&found, &expected, 1);
}

/* Opens gantry, and no device: drivers need not work in a child whose parent has used them. */
static int open_anew(struct conform *c)
{
    struct gantry *g;
    int status = gantry_open(NULL, &g) == GANTRY_OK ? 0 : 1;

    (void)c;
    gantry_close(&g);
    return status;
}

static void forked_children_begin_anew(struct conform *c)
{
    CHECK(in_child(c, open_anew) == 0, "the child could not open gantry");
}

const struct conform_case process_cases[] = {
    {"process/forked-children-are-told", "C41", forked_children_are_told},
    {"process/forked-children-begin-anew", "C41", forked_children_begin_anew},
    {0},
};
