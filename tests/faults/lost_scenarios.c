/* The ways of launching, each with a launch in its midst that writes to a bad address. */
#include <string.h>

#include "launch.h"
#include "lost.h"

#define LIMIT_NS UINT64_C(20000000000)

static struct mark_args args_of(const struct rig *rig, uint32_t i)
{
    bool guilty = i == GUILTY && !rig->injected;

    return (struct mark_args){.to = guilty ? BAD_ADDRESS : gantry_buffer_address(rig->cells),
                              .index = guilty ? 0 : i,
                              .value = guilty ? GUILTY_VALUE : i};
}

static void make_list(struct rig *rig, bool concurrent)
{
    const struct gantry_list_params params = {.label = "the scene"};

    CHECK_OK(gantry_list_create(rig->device, &params, &rig->list));
    if (concurrent)
        CHECK_OK(gantry_list_begin_concurrent(rig->list));
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        struct mark_args args = args_of(rig, i);

        if (i == GUILTY)
            CHECK(gantry_list_label(rig->list, "the bad one"), "no label");
        CHECK(gantry_list_launch(rig->list, rig->mark, (struct gantry_size){.x = 1}, &args,
                                 sizeof(args)),
              "launch %u was not recorded", i);
        if (i == GUILTY)
            CHECK(gantry_list_label(rig->list, NULL), "the label stays");
    }
    if (concurrent)
        CHECK_OK(gantry_list_end_concurrent(rig->list));
}

/* An injected failure may come out of any call, at the latest after some rounds. */
static void submit_until_lost(struct rig *rig)
{
    enum gantry_status status = GANTRY_OK;

    for (int round = 0; round < 20 && status == GANTRY_OK; round++) {
        struct gantry_point point;

        status = gantry_queue_submit(rig->queue, rig->list, NULL, 0, &point);
        if (status == GANTRY_OK)
            status = gantry_wait(point, LIMIT_NS);
    }
    CHECK(status == GANTRY_E_DEVICE_LOST, "%s instead of a lost device",
          gantry_status_name(status));
}

static void run_finished(struct rig *rig)
{
    struct gantry_list_info info;

    CHECK_OK(gantry_list_finish(rig->list));
    CHECK_OK(gantry_list_describe(rig->list, &info));
    printf("%u launches in %u operations, %u folded\n", info.launches, info.operations,
           info.folded);
    submit_until_lost(rig);
}

static void run_list(struct rig *rig)
{
    make_list(rig, false);
    run_finished(rig);
}

static void run_fold(struct rig *rig)
{
    make_list(rig, true);
    run_finished(rig);
}

/* Recorded anew for each submission: only the record of what is in flight knows its commands. */
static void run_once(struct rig *rig)
{
    struct gantry_point point;
    enum gantry_status status = GANTRY_OK;

    for (int round = 0; round < 20 && status == GANTRY_OK; round++) {
        make_list(rig, false);
        status = gantry_queue_submit(rig->queue, rig->list, NULL, 0, &point);
        if (status == GANTRY_OK)
            gantry_list_label(rig->list, "something else");
        if (status == GANTRY_OK)
            status = gantry_wait(point, LIMIT_NS);
        gantry_list_destroy(&rig->list);
    }
    CHECK(status == GANTRY_E_DEVICE_LOST, "%s instead of a lost device",
          gantry_status_name(status));
}

static void run_stream(struct rig *rig)
{
    struct gantry_point point = {0};
    enum gantry_status status = GANTRY_OK;

    for (int round = 0; round < 20 && status == GANTRY_OK; round++) {
        for (uint32_t i = 0; i < LAUNCHES && status == GANTRY_OK; i++) {
            struct mark_args args = args_of(rig, i);

            status = gantry_queue_launch(rig->queue, rig->mark, (struct gantry_size){.x = 1}, &args,
                                         sizeof(args), &point);
        }
        if (status == GANTRY_OK)
            status = gantry_wait(point, LIMIT_NS);
    }
    CHECK(status == GANTRY_E_DEVICE_LOST, "%s instead of a lost device",
          gantry_status_name(status));
}

const struct scenario scenarios[] = {
    {"list", false, "list \"the scene\"", run_list},
    {"fold", true, "list \"the scene\"", run_fold},
    {"once", true, "list \"the scene\"", run_once},
    {"stream", true, "streamed batch", run_stream},
    {0},
};

enum gantry_status mark_all(struct gantry_device *device, struct gantry_kernel *mark)
{
    const struct gantry_buffer_params params = {.size = CELLS * 4, .zero = true};
    struct gantry_buffer *cells = NULL;
    struct gantry_queue *queue = NULL;
    struct gantry_point point = {0};
    uint32_t found[CELLS] = {0};
    enum gantry_status status = gantry_buffer_create(device, &params, &cells);

    if (status == GANTRY_OK)
        status = gantry_queue_create(device, NULL, &queue);
    for (uint32_t i = 0; i < CELLS && status == GANTRY_OK; i++) {
        struct mark_args args = {.to = gantry_buffer_address(cells), .index = i, .value = i + 1};

        status = gantry_queue_launch(queue, mark, (struct gantry_size){.x = 1}, &args, sizeof(args),
                                     &point);
    }
    if (status == GANTRY_OK)
        status = gantry_queue_download(queue, cells, 0, found, sizeof(found), &point);
    if (status == GANTRY_OK)
        status = gantry_wait(point, LIMIT_NS);
    for (uint32_t i = 0; i < CELLS && status == GANTRY_OK; i++)
        CHECK(found[i] == i + 1, "cell %u is %u", i, found[i]);
    gantry_queue_destroy(&queue);
    gantry_buffer_destroy(&cells);
    return status;
}
