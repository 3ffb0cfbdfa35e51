/* Random programs of launches, copies, fills, uploads and downloads, beside a model on the host
 * that runs their commands one after the other. */
#include <string.h>

#include "conform.h"
#include "launch.h"

enum {
    BUFFERS = 8,
    WORDS = 256,
    MOST = 60,   /* actions of a program */
    STRANDS = 4, /* of a section: strand k has the buffers 2k and 2k + 1 to itself */
    PROGRAMS = 40,
    ROUNDS = 3, /* submissions of a program */
};

enum action_kind {
    STEP,
    HOP,
    COPY,
    FILL,
    UPLOAD,
    DOWNLOAD,
    ACTION_KINDS,
};

struct action {
    enum action_kind kind;
    uint32_t buffer, other;       /* written; read by HOP and COPY */
    uint32_t offset, from, count; /* words; of COPY, FILL, UPLOAD and DOWNLOAD */
    uint32_t add;
    bool begin_section, begin_group, end_group, end_section; /* around the action */
};

struct program {
    struct action actions[MOST];
    uint32_t count;
    uint32_t seed;
    uint32_t in[MOST][WORDS], out[MOST][WORDS], expected[MOST][WORDS]; /* by action */
};

/* How a program reaches the device. A stream knows no sections: it runs the commands in turn. */
enum way {
    REPLAYED,
    ONE_SHOT,
    STREAMED,
};

struct mixed {
    struct conform *c;
    struct gantry_kernel *step, *hop;
    struct gantry_buffer *buffers[BUFFERS];
    uint32_t model[BUFFERS][WORDS];
};

/* ---- Making programs ------------------------------------------------------------------------ */

static uint32_t below(struct program *p, uint32_t limit)
{
    return next_random(&p->seed) % limit;
}

/* An action on two neighbouring buffers of `count` from `first` on. */
static struct action *add_action(struct program *p, uint32_t first, uint32_t count)
{
    struct action *a = &p->actions[p->count++];

    *a = (struct action){.kind = (enum action_kind)below(p, ACTION_KINDS)};
    a->buffer = first + below(p, count);
    do {
        a->other = first + below(p, count);
    } while (a->other == a->buffer);
    a->count = 1 + below(p, WORDS);
    a->offset = below(p, WORDS - a->count + 1);
    a->from = below(p, WORDS - a->count + 1);
    a->add = below(p, 1000);
    return a;
}

static void add_section(struct program *p)
{
    p->actions[p->count].begin_section = true;
    for (uint32_t k = 0; k < STRANDS; k++) {
        uint32_t first = p->count, length = 1 + below(p, 5);
        bool opens = p->actions[first].begin_section;

        for (uint32_t i = 0; i < length; i++)
            add_action(p, 2 * k, 2);
        p->actions[first].begin_section = opens;
        p->actions[first].begin_group = true;
        p->actions[p->count - 1].end_group = true;
    }
    p->actions[p->count - 1].end_section = true;
}

static void make_program(struct program *p, uint32_t seed)
{
    memset(p, 0, sizeof(*p));
    p->seed = seed;
    while (p->count + 5 * STRANDS < MOST)
        if (below(p, 4))
            add_action(p, 0, BUFFERS);
        else
            add_section(p);
}

/* ---- Recording ------------------------------------------------------------------------------ */

static void record_command(struct mixed *m, struct program *p, uint32_t i, struct gantry_list *list)
{
    struct conform *c = m->c;
    const struct action *a = &p->actions[i];
    struct gantry_buffer *buffer = m->buffers[a->buffer], *other = m->buffers[a->other];
    struct step_args step = {.cells = gantry_buffer_address(buffer), .n = WORDS, .add = a->add};
    struct hop_args hop = {.from = gantry_buffer_address(other),
                           .to = gantry_buffer_address(buffer),
                           .mask = WORDS - 1,
                           .add = a->add};

    switch (a->kind) {
    case STEP:
        LAUNCH(list, m->step, WORDS, &step);
        break;
    case HOP:
        LAUNCH(list, m->hop, WORDS, &hop);
        break;
    case COPY:
        RECORD(gantry_list_copy(list, buffer, 4 * a->offset, other, 4 * a->from, 4 * a->count));
        break;
    case FILL:
        RECORD(gantry_list_fill(list, buffer, 4 * a->offset, 4 * a->count, a->add));
        break;
    case UPLOAD:
        RECORD(gantry_list_upload(list, buffer, 4 * a->offset, p->in[i], 4 * a->count));
        break;
    case DOWNLOAD:
        RECORD(gantry_list_download(list, buffer, 4 * a->offset, p->out[i], 4 * a->count));
        break;
    case ACTION_KINDS:
        break;
    }
}

static void record_program(struct mixed *m, struct program *p, struct gantry_list *list)
{
    struct conform *c = m->c;

    for (uint32_t i = 0; i < p->count; i++) {
        const struct action *a = &p->actions[i];

        if (a->begin_section)
            OK(gantry_list_begin_concurrent(list));
        if (a->begin_group)
            OK(gantry_list_begin_ordered(list));
        record_command(m, p, i, list);
        if (a->end_group)
            OK(gantry_list_end_ordered(list));
        if (a->end_section)
            OK(gantry_list_end_concurrent(list));
    }
}

static void stream_command(struct mixed *m, struct program *p, uint32_t i,
                           struct gantry_point *point)
{
    struct conform *c = m->c;
    const struct action *a = &p->actions[i];
    struct gantry_buffer *buffer = m->buffers[a->buffer], *other = m->buffers[a->other];
    uint64_t offset = 4 * a->offset, size = 4 * a->count;
    struct step_args step = {.cells = gantry_buffer_address(buffer), .n = WORDS, .add = a->add};
    struct hop_args hop = {.from = gantry_buffer_address(other),
                           .to = gantry_buffer_address(buffer),
                           .mask = WORDS - 1,
                           .add = a->add};
    const struct gantry_size threads = {.x = WORDS};

    switch (a->kind) {
    case STEP:
        OK(gantry_queue_launch(c->queue, m->step, threads, &step, sizeof(step), point));
        break;
    case HOP:
        OK(gantry_queue_launch(c->queue, m->hop, threads, &hop, sizeof(hop), point));
        break;
    case COPY:
        OK(gantry_queue_copy(c->queue, buffer, offset, other, 4 * a->from, size, point));
        break;
    case FILL:
        OK(gantry_queue_fill(c->queue, buffer, offset, size, a->add, point));
        break;
    case UPLOAD:
        OK(gantry_queue_upload(c->queue, buffer, offset, p->in[i], size, point));
        break;
    case DOWNLOAD:
        OK(gantry_queue_download(c->queue, buffer, offset, p->out[i], size, point));
        break;
    case ACTION_KINDS:
        break;
    }
}

static void stream_program(struct mixed *m, struct program *p)
{
    struct conform *c = m->c;
    struct gantry_point point = {0};

    for (uint32_t i = 0; i < p->count; i++)
        stream_command(m, p, i, &point);
    OK(gantry_wait(point, GANTRY_FOREVER));
}

/* ---- The model ------------------------------------------------------------------------------ */

static void simulate(struct mixed *m, struct program *p, uint32_t i)
{
    const struct action *a = &p->actions[i];
    uint32_t *to = m->model[a->buffer], *from = m->model[a->other];

    switch (a->kind) {
    case STEP:
        for (uint32_t k = 0; k < WORDS; k++)
            to[k] = to[k] * 3 + a->add;
        break;
    case HOP:
        for (uint32_t k = 0; k < WORDS; k++)
            to[k] = from[(k * 5 + 12345) % WORDS] * 3 + a->add;
        break;
    case COPY:
        memcpy(to + a->offset, from + a->from, 4 * a->count);
        break;
    case FILL:
        for (uint32_t k = 0; k < a->count; k++)
            to[a->offset + k] = a->add;
        break;
    case UPLOAD:
        memcpy(to + a->offset, p->in[i], 4 * a->count);
        break;
    case DOWNLOAD:
        memcpy(p->expected[i], to + a->offset, 4 * a->count);
        break;
    case ACTION_KINDS:
        break;
    }
}

static void check(struct mixed *m, struct program *p)
{
    struct conform *c = m->c;
    uint32_t found[WORDS];

    for (uint32_t i = 0; i < p->count; i++)
        if (p->actions[i].kind == DOWNLOAD)
            EQUAL(p->out[i], p->expected[i], p->actions[i].count);
    for (uint32_t b = 0; b < BUFFERS; b++) {
        read_buffer(c, m->buffers[b], 0, found, sizeof(found));
        EQUAL(found, m->model[b], WORDS);
    }
}

static void run_program(struct mixed *m, struct program *p, enum way way)
{
    struct conform *c = m->c;
    struct gantry_list *list = make_list(c);

    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < p->count; i++)
            for (uint32_t k = 0; k < WORDS; k++)
                p->in[i][k] = next_random(&p->seed);
        if (way == ONE_SHOT || (way == REPLAYED && round == 0))
            record_program(m, p, list);
        if (way == REPLAYED && round == 0)
            finish(c, list);
        if (way == STREAMED)
            stream_program(m, p);
        else
            submit_and_wait(c, list);
        for (uint32_t i = 0; i < p->count; i++)
            simulate(m, p, i);
        check(m, p);
    }
    drop_list(c, list);
}

static void run_programs(struct conform *c, enum way way)
{
    struct mixed *m = make_words(c, sizeof(*m));
    struct program *p = make_words(c, sizeof(*p));

    m->c = c;
    m->step = make_kernel(c, "launch", "step");
    m->hop = make_kernel(c, "launch", "hop");
    for (int i = 0; i < BUFFERS; i++)
        m->buffers[i] = make_buffer(c, 4 * WORDS);
    for (uint32_t program = 0; program < PROGRAMS; program++) {
        make_program(p, 0x9e3779b9u * (program + 1));
        run_program(m, p, way);
    }
}

static void replayed_programs(struct conform *c)
{
    run_programs(c, REPLAYED);
}

static void one_shot_programs(struct conform *c)
{
    run_programs(c, ONE_SHOT);
}

static void streamed_programs(struct conform *c)
{
    run_programs(c, STREAMED);
}

const struct conform_case mixed_cases[] = {
    {"mixed/replayed-programs", NULL, replayed_programs},
    {"mixed/one-shot-programs", NULL, one_shot_programs},
    {"mixed/streamed-programs", NULL, streamed_programs},
    {0},
};
