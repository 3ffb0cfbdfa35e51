/* A chain of launches whose result shows any change of order. */
#include "harness.h"

enum { THREADS = 256 };

static void *array(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);

    CHECK(memory);
    return memory;
}

void chain_open(struct bench *bench, struct chain *chain, struct gantry_drv_kernel *kernel,
                uint32_t steps, uint32_t blocks, bool programmatic)
{
    chain->kernel = kernel;
    chain->steps = steps;
    chain->items = blocks * THREADS;
    chain->args = array(steps, sizeof(*chain->args));
    chain->ops = array(steps, sizeof(*chain->ops));
    chain->edges = array(steps, sizeof(*chain->edges));
    chain->wanted = array(chain->items, sizeof(*chain->wanted));
    chain->y = allocate(bench, GANTRY_MEMORY_DEVICE, chain->items * sizeof(*chain->wanted));
    for (uint32_t i = 0; i < steps; i++) {
        chain->ops[i] = launch_op(kernel, blocks, THREADS, &chain->args[i], sizeof(chain->args[i]));
        chain->ops[i].stage = i;
        chain->edges[i] = (struct gantry_edge){i, i + 1, programmatic};
    }
    chain_vary(chain, 0);
    chain_cut(chain, steps);
    chain_reset(bench, chain);
}

void chain_vary(struct chain *chain, uint32_t salt)
{
    for (uint32_t i = 0; i < chain->steps; i++)
        chain->args[i] =
            (struct affine_args){chain->y.address, chain->items, 3 + (i + salt) % 5 * 2, i + salt};
}

void chain_cut(struct chain *chain, uint32_t steps)
{
    chain->plan = (struct gantry_plan){.ops = chain->ops,
                                       .op_count = steps,
                                       .edges = chain->edges,
                                       .edge_count = steps - 1,
                                       .stage_count = steps,
                                       .label = "chain"};
}

void chain_reset(struct bench *bench, struct chain *chain)
{
    for (uint32_t i = 0; i < chain->items; i++)
        chain->wanted[i] = i;
    upload(bench, &chain->y, chain->wanted, chain->items * sizeof(*chain->wanted));
}

void chain_apply(struct chain *chain)
{
    for (uint32_t step = 0; step < chain->plan.op_count; step++) {
        for (uint32_t i = 0; i < chain->items; i++)
            chain->wanted[i] = chain->wanted[i] * chain->args[step].a + chain->args[step].b;
    }
}

uint32_t chain_wrong(struct bench *bench, struct chain *chain)
{
    uint32_t *values = array(chain->items, sizeof(*values)), wrong = 0;

    download(bench, &chain->y, values, chain->items * sizeof(*values));
    for (uint32_t i = 0; i < chain->items; i++)
        wrong += values[i] != chain->wanted[i];
    free(values);
    return wrong;
}

void chain_close(struct bench *bench, struct chain *chain)
{
    bench->ops->memory_free(bench->device, &chain->y);
    bench->ops->kernel_destroy(bench->device, chain->kernel);
    free(chain->args);
    free(chain->ops);
    free(chain->edges);
    free(chain->wanted);
}
