/* Launches of kernels with barriers and shared memory, one by one, side by side in one grid, and
 * one after the other on one block: the same bits. */
#include "dense.h"

enum { LAUNCHES = 6, ROWS = 40, COLUMNS = 44, INNER = 36, SIZE = ROWS * COLUMNS };

enum manner { ALONE, CONCURRENT, ORDERED, MANNERS };

/* One set of arrays for all launches; launch i reads the same from another place. */
struct work {
    struct array from, by, to[MANNERS];
    uint32_t *results[MANNERS];
};

static struct work make_work(struct conform *c)
{
    size_t from = SIZE + LAUNCHES * 4, by = SIZE + LAUNCHES * 4;
    struct work work = {.from = make_array(c, make_floats(c, from, 1), from * 4, 0),
                        .by = make_array(c, make_floats(c, by, 2), by * 4, 0)};

    for (int i = 0; i < MANNERS; i++) {
        work.to[i] = make_array(c, NULL, (size_t)SIZE * LAUNCHES * 4, 0);
        work.results[i] = make_randoms(c, (size_t)SIZE * LAUNCHES, 3);
    }
    return work;
}

static void record_softmax(struct conform *c, struct gantry_list *list,
                           struct gantry_kernel *kernel, const struct work *work, gantry_ptr to,
                           unsigned i)
{
    struct gantry_softmax_args args = {to,      work->from.address + i * 16ull,
                                       ROWS,    COLUMNS,
                                       COLUMNS, COLUMNS};

    LAUNCH(list, kernel, 256, &args); /* a block */
}

static void record_matmul(struct conform *c, struct gantry_list *list, struct gantry_kernel *kernel,
                          const struct work *work, gantry_ptr to, unsigned i)
{
    struct gantry_matmul_args args = {.c = to,
                                      .a = work->from.address + i * 16ull,
                                      .b = work->by.address + i * 16ull,
                                      .rows = ROWS,
                                      .columns = COLUMNS,
                                      .inner = INNER,
                                      .c_pitch = COLUMNS,
                                      .a_pitch = INNER,
                                      .b_pitch = COLUMNS};

    LAUNCH_GRID(list, kernel, (COLUMNS + 7) / 8, (ROWS + 7) / 8, 1, &args);
}

typedef void record_function(struct conform *, struct gantry_list *, struct gantry_kernel *,
                             const struct work *, gantry_ptr, unsigned);

/* Leaves the list ready to be submitted, except that launches alone have run when it returns. */
static void record_all(struct conform *c, struct gantry_list *list, enum manner manner,
                       record_function *record, struct gantry_kernel *kernel,
                       const struct work *work)
{
    if (manner == CONCURRENT)
        OK(gantry_list_begin_concurrent(list));
    for (unsigned i = 0; i < LAUNCHES; i++) {
        record(c, list, kernel, work, work->to[manner].address + i * (SIZE * 4ull), i);
        if (manner == ALONE)
            submit_and_wait(c, list);
    }
    if (manner == CONCURRENT)
        OK(gantry_list_end_concurrent(list));
}

static void check_manners(struct conform *c, record_function *record, struct gantry_kernel *kernel)
{
    struct work work = make_work(c);

    for (int manner = 0; manner < MANNERS; manner++) {
        struct gantry_list *list = make_list(c);

        record_all(c, list, manner, record, kernel, &work);
        finish(c, list);
        submit_and_wait(c, list);
        read_array(c, &work.to[manner], work.results[manner]);
    }
    EQUAL(work.results[CONCURRENT], work.results[ALONE], (size_t)SIZE * LAUNCHES);
    EQUAL(work.results[ORDERED], work.results[ALONE], (size_t)SIZE * LAUNCHES);
}

static void test_softmax(struct conform *c)
{
    check_manners(c, record_softmax, LIBRARY_KERNEL(softmax));
}

static void test_matmul(struct conform *c)
{
    check_manners(c, record_matmul, LIBRARY_KERNEL(matmul_small));
}

const struct conform_case dense_fold_kernel_cases[] = {
    {"softmax/folded", NULL, test_softmax},
    {"matmul/folded", NULL, test_matmul},
    {NULL, NULL, NULL},
};
