/* The key validate: a bad pointer is an error of the call that submits it, and the device and the
 * process go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform.h"
#include "launch.h"

enum { CELLS = 64, BYTES = 4 * CELLS };

/* A device that validates, and what a case needs on it. */
struct rig {
    struct gantry_device *device;
    struct gantry_queue *queue;
    struct gantry_module *module;
    struct gantry_kernel *step;
    struct gantry_buffer *cells;
};

static struct gantry_buffer *make_cells(struct conform *c, const struct rig *r, const char *label)
{
    const struct gantry_buffer_params params = {.size = BYTES, .zero = true, .label = label};
    struct gantry_buffer *buffer;

    OK(gantry_buffer_create(r->device, &params, &buffer));
    return buffer;
}

/* All of it goes with the device. */
static struct rig open_rig(struct conform *c)
{
    struct rig r = {.device = make_device_with(c, "[policy]\nvalidate = on\n")};
    struct gantry_module_params params = {0};
    char file[4096];

    snprintf(file, sizeof(file), "%s/launch.gpk", c->options->packages);
    params.file = file;
    OK(gantry_module_load(r.device, &params, &r.module));
    OK(gantry_kernel_create(r.module, "step", NULL, &r.step));
    OK(gantry_queue_create(r.device, NULL, &r.queue));
    r.cells = make_cells(c, &r, "cells");
    return r;
}

static struct step_args args_at(gantry_ptr cells, uint32_t n)
{
    return (struct step_args){.cells = cells, .n = n, .add = 1};
}

static struct gantry_list *record(struct conform *c, const struct rig *r,
                                  const struct step_args *args)
{
    struct gantry_list *list;

    OK(gantry_list_create(r->device, NULL, &list));
    LAUNCH(list, r->step, CELLS, args);
    return list;
}

static void expect_sentence(struct conform *c, const char *part)
{
    CHECK(strstr(gantry_last_error(), part), "\"%s\" does not hold \"%s\"", gantry_last_error(),
          part);
}

/* Once, finished and streamed. */
static void check_refused(struct conform *c, const struct rig *r, gantry_ptr cells, uint32_t n,
                          const char *part)
{
    const struct step_args args = args_at(cells, n);
    struct gantry_list *list = record(c, r, &args);

    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(r->queue, list, NULL, 0, NULL));
    expect_sentence(c, part);
    expect_sentence(c, "launch 1 of kernel step: argument cells");
    OK(gantry_list_finish(list));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(r->queue, list, NULL, 0, NULL));
    expect_sentence(c, part);
    gantry_list_destroy(&list);
    EXPECT(GANTRY_E_INVALID_ARGUMENT,
           gantry_queue_launch(r->queue, r->step, (struct gantry_size){.x = CELLS}, &args,
                               sizeof(args), NULL));
    expect_sentence(c, part);
}

/* The same three ways, and that they ran: cells from the address on are 0 and become 1, 4, 13. */
static void check_taken(struct conform *c, const struct rig *r, struct gantry_buffer *buffer,
                        uint64_t offset, uint32_t n)
{
    const struct step_args args = args_at(gantry_buffer_address(buffer) + offset, n);
    struct gantry_list *list = record(c, r, &args);
    uint32_t expected[CELLS], found[CELLS];
    struct gantry_point point;

    OK(gantry_queue_submit(r->queue, list, NULL, 0, NULL));
    LAUNCH(list, r->step, CELLS, &args);
    OK(gantry_list_finish(list));
    OK(gantry_queue_submit(r->queue, list, NULL, 0, NULL));
    OK(gantry_queue_launch(r->queue, r->step, (struct gantry_size){.x = CELLS}, &args, sizeof(args),
                           NULL));
    OK(gantry_queue_download(r->queue, buffer, offset, found, 4 * (uint64_t)n, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    for (uint32_t i = 0; i < n; i++)
        expected[i] = 13;
    EQUAL(found, expected, n);
    gantry_list_destroy(&list);
}

static void bad_addresses(struct conform *c)
{
    struct rig r = open_rig(c);
    gantry_ptr cells = gantry_buffer_address(r.cells);

    check_refused(c, &r, 0, CELLS, "MAY_BE_NULL(cells)");
    check_refused(c, &r, 0x10, CELLS, "points into no buffer of device");
    check_refused(c, &r, UINT64_MAX - 3, 1, "points into no buffer of device");
    check_refused(c, &r, cells - 4, 1, "\"cells\"");
    check_refused(c, &r, cells + BYTES, 1, "ends 1 byte before it");
    check_taken(c, &r, r.cells, 0, CELLS);
}

static void past_the_end(struct conform *c)
{
    struct rig r = open_rig(c);
    gantry_ptr cells = gantry_buffer_address(r.cells);

    check_refused(c, &r, cells, CELLS + 1, "leaves 256 bytes; the kernel reaches n = 65 elements");
    check_refused(c, &r, cells + 1, CELLS, "points to byte 1 of buffer \"cells\" (256 bytes");
    check_refused(c, &r, cells + BYTES - 4, 2, "leaves 4 bytes");
    check_refused(c, &r, cells, UINT32_MAX, "n = 4294967295 elements of 4 bytes");
    check_taken(c, &r, r.cells, BYTES - 4, 1);
}

static void inside_a_buffer(struct conform *c)
{
    struct rig r = open_rig(c);

    check_taken(c, &r, r.cells, 64, CELLS - 16);
}

static void destroyed_buffers(struct conform *c)
{
    struct rig r = open_rig(c);
    struct gantry_buffer *old = make_cells(c, &r, "old");
    gantry_ptr address = gantry_buffer_address(old);
    const struct step_args args = args_at(address, CELLS);
    struct gantry_list *list = record(c, &r, &args);

    OK(gantry_list_finish(list));
    OK(gantry_queue_submit(r.queue, list, NULL, 0, NULL));
    OK(gantry_queue_launch(r.queue, r.step, (struct gantry_size){.x = CELLS}, &args, sizeof(args),
                           NULL)); /* may be in an open batch still */
    gantry_buffer_destroy(&old);
    OK(gantry_queue_flush(r.queue));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(r.queue, list, NULL, 0, NULL));
    expect_sentence(c, "points to byte 0 of buffer \"old\"");
    expect_sentence(c, "which was destroyed");
    check_refused(c, &r, address + 8, 1, "points to byte 8 of buffer \"old\"");
    gantry_list_destroy(&list);
    check_taken(c, &r, r.cells, 0, CELLS);
}

static void patched_arguments(struct conform *c)
{
    struct rig r = open_rig(c);
    const struct gantry_size threads = {.x = CELLS};
    const struct step_args args = args_at(gantry_buffer_address(r.cells), CELLS);
    const gantry_ptr wild = 0x1234, good = args.cells;
    struct gantry_list *list;
    struct gantry_point point;
    uint32_t id, found[CELLS];

    OK(gantry_list_create(r.device, NULL, &list));
    id = RECORD(gantry_list_launch_patchable(list, r.step, threads, threads, &args, sizeof(args)));
    OK(gantry_list_finish(list));
    OK(gantry_queue_submit(r.queue, list, NULL, 0, NULL));
    OK(gantry_list_set_arg(list, id, offsetof(struct step_args, cells), &wild, sizeof(wild)));
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(r.queue, list, NULL, 0, NULL));
    expect_sentence(c, "argument cells, 0x1234, points into no buffer");
    OK(gantry_list_set_arg(list, id, offsetof(struct step_args, cells), &good, sizeof(good)));
    OK(gantry_queue_submit(r.queue, list, NULL, 0, NULL));
    OK(gantry_queue_download(r.queue, r.cells, 0, found, BYTES, &point));
    OK(gantry_wait(point, GANTRY_FOREVER));
    CHECK(found[CELLS - 1] == 4, "the last cell is %u instead of 4", found[CELLS - 1]);
    gantry_list_destroy(&list);
}

static void registered_memory(struct conform *c)
{
    struct gantry_host_params params = {.pointer = make_words(c, BYTES), .size = BYTES};
    struct rig r = open_rig(c);
    struct gantry_buffer *mine;
    enum gantry_status status = gantry_host_register(r.device, &params, &mine);
    gantry_ptr address;

    if (status == GANTRY_E_UNSUPPORTED)
        skip(c, "%s", gantry_last_error());
    OK(status);
    address = gantry_buffer_address(mine);
    check_refused(c, &r, address + 4, CELLS, "buffer \"registered memory\"");
    check_taken(c, &r, mine, 0, CELLS);
    gantry_buffer_destroy(&mine);
    check_refused(c, &r, address, CELLS, "which was destroyed");
}

/* A wrong address would end the process here. */
static void on_by_default_on_a_processor(struct conform *c)
{
    struct gantry_kernel *step = make_kernel(c, "launch", "step");
    const struct step_args args = args_at(0x10, CELLS);
    struct gantry_list *list = make_list(c);

    if (c->info.type != GANTRY_DEVICE_CPU || getenv("GANTRY_VALIDATE"))
        skip(c, "validate is on by itself on CPU devices only");
    LAUNCH(list, step, CELLS, &args);
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_queue_submit(c->queue, list, NULL, 0, NULL));
    expect_sentence(c, "argument cells, 0x10, points into no buffer");
}

/* ---- Races ---------------------------------------------------------------------------------- */

struct heard {
    unsigned races;
    char text[1000];
};

static void hear(void *user, enum gantry_log_level level, const char *text)
{
    struct heard *heard = user;

    if (level == GANTRY_LOG_WARNING && strstr(text, "run at the same time")) {
        heard->races++;
        snprintf(heard->text, sizeof(heard->text), "%s", text);
    }
}

/* Two launches side by side over so many cells each, `apart` cells from each other, three times. */
static enum gantry_status run_pair(struct conform *c, struct gantry_device *device, uint32_t cells,
                                   uint32_t apart)
{
    struct rig r = {.device = device};
    struct gantry_module_params params = {0};
    struct gantry_list *list = NULL;
    struct gantry_point point = {0};
    enum gantry_status status;
    char file[4096];

    snprintf(file, sizeof(file), "%s/launch.gpk", c->options->packages);
    params.file = file;
    status = gantry_module_load(device, &params, &r.module);
    if (status == GANTRY_OK)
        status = gantry_kernel_create(r.module, "step", NULL, &r.step);
    if (status == GANTRY_OK)
        status = gantry_queue_create(device, NULL, &r.queue);
    if (status == GANTRY_OK)
        status = gantry_list_create(device, NULL, &list);
    if (status != GANTRY_OK)
        return status;
    r.cells = make_cells(c, &r, "cells");
    gantry_list_begin_concurrent(list);
    for (uint32_t i = 0; i < 2; i++) {
        const struct step_args args =
            args_at(gantry_buffer_address(r.cells) + 4 * (uint64_t)(i * apart), cells);

        gantry_list_launch(list, r.step, (struct gantry_size){.x = cells}, &args, sizeof(args));
    }
    gantry_list_end_concurrent(list);
    status = gantry_list_finish(list);
    for (int i = 0; i < 3 && status == GANTRY_OK; i++)
        status = gantry_queue_submit(r.queue, list, NULL, 0, &point);
    return status == GANTRY_OK ? gantry_wait(point, GANTRY_FOREVER) : status;
}

static struct heard races_of(struct conform *c, uint32_t cells, uint32_t apart)
{
    struct heard heard = {0};
    const struct gantry_params params = {.override_text = "[policy]\nvalidate = on\n",
                                         .log = hear,
                                         .log_user = &heard};
    const struct gantry_device_params device_params = {.device = c->options->device};
    struct gantry_device *device;
    struct gantry *g;
    enum gantry_status status = gantry_open(&params, &g);

    if (status == GANTRY_OK)
        status = gantry_device_open(g, &device_params, &device);
    if (status == GANTRY_OK)
        status = run_pair(c, device, cells, apart);
    gantry_close(&g);
    OK(status);
    return heard;
}

static void races(struct conform *c)
{
    struct heard heard = races_of(c, 32, 32);

    CHECK(heard.races == 0, "halves that don't meet: %s", heard.text);
    heard = races_of(c, 33, 31);
    CHECK(heard.races == 1, "%u warnings, the latest \"%s\"", heard.races, heard.text);
    CHECK(strstr(heard.text, "launch 1 of kernel step, argument cells (writes) and launch 2 of"),
          "%s", heard.text);
    CHECK(strstr(heard.text, "bytes 124 to 131 of buffer \"cells\""), "%s", heard.text);
}

const struct conform_case validate_cases[] = {
    {"validate/bad-addresses", NULL, bad_addresses},
    {"validate/past-the-end", NULL, past_the_end},
    {"validate/inside-a-buffer", NULL, inside_a_buffer},
    {"validate/destroyed-buffers", NULL, destroyed_buffers},
    {"validate/patched-arguments", NULL, patched_arguments},
    {"validate/registered-memory", NULL, registered_memory},
    {"validate/on-by-default-on-a-processor", NULL, on_by_default_on_a_processor},
    {"validate/races", NULL, races},
    {NULL, NULL, NULL},
};
