#include <stdlib.h>

#include "unit.h"

#include "core/buffer.h"
#include "core/host_register.h"
#include "core/queue.h"
#include "core/retire.h"
#include "core/status.h"
#include "fake_device.h"

/* The plugin's calls have no way to the test but this; tests run one after the other. */
static struct fake_device *the_fake;

/* Guards the fake device, whose queues several threads may use. */
static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;

static enum gantry_status planned(enum gantry_status *next)
{
    enum gantry_status status = *next;

    *next = GANTRY_OK;
    if (the_fake->lost)
        status = GANTRY_E_DEVICE_LOST;
    return status == GANTRY_OK ? status : fail(status, "as planned");
}

/* ---- Memory --------------------------------------------------------------------------------- */

#define ALIGNMENT 256

static bool count_memory(uint64_t size)
{
    bool fits;

    pthread_mutex_lock(&fake_lock);
    fits = the_fake->memory_size == 0 || size <= the_fake->memory_size - the_fake->memory_used;
    the_fake->memory_asked++;
    the_fake->memories += fits;
    the_fake->memory_used += fits ? size : 0;
    pthread_mutex_unlock(&fake_lock);
    return fits;
}

static enum gantry_status allocate(struct gantry_drv_device *device, enum gantry_memory kind,
                                   uint64_t size, struct gantry_drv_memory *memory)
{
    enum gantry_status status;

    (void)device;
    pthread_mutex_lock(&fake_lock);
    status = planned(&the_fake->fail_allocate);
    pthread_mutex_unlock(&fake_lock);
    if (status != GANTRY_OK)
        return status;
    *memory = (struct gantry_drv_memory){.size = (size + 3) / 4 * 4, .kind = kind};
    if (!count_memory(memory->size))
        return fail(GANTRY_E_OUT_OF_MEMORY, "the fake device is full");
    memory->driver = calloc(1, memory->size + ALIGNMENT);
    assert_non_null(memory->driver);
    memory->address = ((uintptr_t)memory->driver + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memory->host = kind == GANTRY_MEMORY_DEVICE ? NULL : (void *)(uintptr_t)memory->address;
    memory->direct = kind == GANTRY_MEMORY_DEVICE && the_fake->direct
                         ? (void *)(uintptr_t)memory->address
                         : NULL;
    return GANTRY_OK;
}

static void release(struct gantry_drv_device *device, struct gantry_drv_memory *memory)
{
    bool registered = memory->kind == GANTRY_MEMORY_REGISTERED;

    (void)device;
    if (!registered)
        free(memory->driver);
    pthread_mutex_lock(&fake_lock);
    the_fake->memories--;
    the_fake->memory_used -= registered ? 0 : memory->size;
    pthread_mutex_unlock(&fake_lock);
}

static enum gantry_status ask_memory(struct gantry_drv_device *device, uint64_t *available,
                                     uint64_t *total)
{
    (void)device;
    if (the_fake->memory_size == 0)
        return fail(GANTRY_E_UNSUPPORTED, "the fake device does not tell");
    *available = the_fake->memory_size - the_fake->memory_used;
    *total = the_fake->memory_size;
    return GANTRY_OK;
}

static enum gantry_status take_over(struct gantry_drv_device *device, void *pointer, uint64_t size,
                                    struct gantry_drv_memory *memory)
{
    enum gantry_status status = planned(&the_fake->fail_register);

    (void)device;
    if (status != GANTRY_OK)
        return status;
    *memory = (struct gantry_drv_memory){.address = (uintptr_t)pointer,
                                         .host = pointer,
                                         .size = size,
                                         .kind = GANTRY_MEMORY_REGISTERED,
                                         .driver = pointer};
    the_fake->memories++;
    return GANTRY_OK;
}

/* ---- Queues --------------------------------------------------------------------------------- */

static enum gantry_status create_queue(struct gantry_drv_device *device,
                                       const struct gantry_backend_queue_params *params,
                                       struct gantry_drv_queue **queue)
{
    (void)device;
    assert_non_null(params->stats);
    *queue = calloc(1, sizeof(**queue));
    assert_non_null(*queue);
    the_fake->queues++;
    return GANTRY_OK;
}

static void destroy_queue(struct gantry_drv_queue *queue)
{
    assert_true(the_fake->lost || queue->pending_count == 0);
    for (uint32_t i = 0; i < queue->pending_count; i++)
        free(queue->pending[i].ops);
    free(queue);
    the_fake->queues--;
}

static uint8_t *bytes(struct gantry_drv_memory *memory, uint64_t offset)
{
    return (uint8_t *)(uintptr_t)memory->address + offset;
}

static void run(const struct gantry_op *op)
{
    const struct gantry_op_copy *copy = &op->copy;

    for (uint64_t row = 0; op->kind == GANTRY_OP_COPY && (row == 0 || row < copy->rows); row++)
        memcpy(bytes(copy->to, copy->to_offset + row * copy->to_pitch),
               bytes(copy->from, copy->from_offset + row * copy->from_pitch), copy->size);
    if (op->kind == GANTRY_OP_FILL)
        for (uint64_t i = 0; i < op->fill.size; i += 4)
            memcpy(bytes(op->fill.memory, op->fill.offset + i), &op->fill.pattern, 4);
}

static void complete(struct gantry_drv_queue *queue, uint64_t value)
{
    uint32_t done = 0;

    for (; done < queue->pending_count && queue->pending[done].value <= value; done++) {
        for (uint32_t i = 0; i < queue->pending[done].op_count; i++)
            run(&queue->pending[done].ops[i]);
        free(queue->pending[done].ops);
    }
    queue->pending_count -= done;
    memmove(queue->pending, queue->pending + done, queue->pending_count * sizeof(*queue->pending));
    if (queue->completed < value)
        queue->completed = value;
}

static enum gantry_status completed(struct gantry_drv_queue *queue, uint64_t *value)
{
    enum gantry_status status;

    pthread_mutex_lock(&fake_lock);
    status = planned(&the_fake->fail_completed);
    the_fake->looks++;
    if (the_fake->complete_after_looks && --the_fake->complete_after_looks == 0)
        complete(queue, queue->submitted);
    *value = queue->completed;
    pthread_mutex_unlock(&fake_lock);
    return status;
}

static enum gantry_status wait(struct gantry_drv_queue *queue, uint64_t value, uint64_t timeout_ns)
{
    if (the_fake->lost)
        return fail(GANTRY_E_DEVICE_LOST, "lost");
    assert_true(value <= queue->submitted); /* would hang */
    the_fake->sleeps++;
    the_fake->timeout_asked = timeout_ns;
    if (!the_fake->complete_in_wait) {
        assert_int_not_equal(timeout_ns, GANTRY_FOREVER); /* would hang */
        return fail(GANTRY_TIMEOUT, "too early");
    }
    pthread_mutex_lock(&fake_lock);
    complete(queue, value);
    pthread_mutex_unlock(&fake_lock);
    return GANTRY_OK;
}

/* ---- Plans ---------------------------------------------------------------------------------- */

static struct gantry_op *copy_ops(const struct gantry_op *ops, uint32_t count)
{
    struct gantry_op *copy = calloc(count + 1, sizeof(*copy));

    assert_non_null(copy);
    if (count)
        memcpy(copy, ops, count * sizeof(*copy));
    return copy;
}

static enum gantry_status build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                                struct gantry_drv_plan **built)
{
    enum gantry_status status = planned(&the_fake->fail_build);

    (void)device;
    if (status != GANTRY_OK)
        return status;
    *built = calloc(1, sizeof(**built));
    assert_non_null(*built);
    (*built)->op_count = plan->op_count;
    (*built)->ops = copy_ops(plan->ops, plan->op_count);
    the_fake->builds++;
    the_fake->plans++;
    return GANTRY_OK;
}

static void destroy_plan(struct gantry_drv_plan *built)
{
    free(built->ops);
    free(built);
    the_fake->plans--;
}

static void keep(struct gantry_drv_queue *queue, const struct fake_work *work)
{
    struct fake_submission kept = {queue, work->value, work->op_count, 0};

    for (uint32_t i = 0; i < work->op_count; i++)
        kept.launches += work->ops[i].kind == GANTRY_OP_LAUNCH;
    if (the_fake->submissions < FAKE_MAX_KEPT)
        the_fake->kept[the_fake->submissions] = kept;
    the_fake->submissions++;
}

static void take(struct gantry_drv_queue *queue, const struct gantry_op *ops, uint32_t op_count,
                 const struct gantry_backend_submission *submission)
{
    struct fake_work *work = &queue->pending[queue->pending_count++];

    assert_true(queue->pending_count <= FAKE_MAX_PENDING);
    assert_true(submission->wait_count <= FAKE_MAX_WAITS);
    assert_true(submission->value > queue->submitted);
    *work = (struct fake_work){submission->value, op_count, copy_ops(ops, op_count)};
    for (uint32_t i = 0; i < submission->wait_count; i++) {
        the_fake->waits[i] = submission->waits[i];
        assert_true(submission->waits[i].value <= submission->waits[i].queue->submitted);
    }
    the_fake->wait_count = submission->wait_count;
    the_fake->value = submission->value;
    the_fake->op_count = op_count;
    queue->submitted = submission->value;
    keep(queue, work);
    if (the_fake->complete_in_submit)
        complete(queue, submission->value);
}

static enum gantry_status try_take(struct gantry_drv_queue *queue, const struct gantry_op *ops,
                                   uint32_t op_count,
                                   const struct gantry_backend_submission *submission,
                                   unsigned *calls)
{
    enum gantry_status status;

    pthread_mutex_lock(&fake_lock);
    status = planned(&the_fake->fail_submit);
    if (status == GANTRY_OK) {
        take(queue, ops, op_count, submission);
        ++*calls;
    }
    pthread_mutex_unlock(&fake_lock);
    return status;
}

static enum gantry_status submit(struct gantry_drv_queue *queue, struct gantry_drv_plan *built,
                                 const struct gantry_backend_submission *submission)
{
    return try_take(queue, built->ops, built->op_count, submission, &the_fake->submits);
}

static enum gantry_status submit_once(struct gantry_drv_queue *queue,
                                      const struct gantry_plan *plan,
                                      const struct gantry_backend_submission *submission)
{
    return try_take(queue, plan->ops, plan->op_count, submission, &the_fake->submits_once);
}

static const struct gantry_backend_ops ops = {
    .size = sizeof(ops),
    .device_memory = ask_memory,
    .memory_allocate = allocate,
    .memory_free = release,
    .memory_register = take_over,
    .queue_create = create_queue,
    .queue_destroy = destroy_queue,
    .queue_completed = completed,
    .queue_wait = wait,
    .plan_build = build,
    .plan_destroy = destroy_plan,
    .submit = submit,
    .submit_once = submit_once,
};

/* ---- The device ----------------------------------------------------------------------------- */

int fake_open(void **state)
{
    struct fake_device *fake = calloc(1, sizeof(*fake));
    struct gantry_device *device = &fake->device;

    assert_int_equal(process_watch(), GANTRY_OK);
    pthread_mutex_init(&device->lock, NULL);
    device->g = &fake->g;
    device->ops = &ops;
    device->backend = "fake";
    device->label = (char *)"fake device";
    device->process = process_id();
    device->policy.chains = 4;
    device->policy.batch_size = 16;
    device->policy.batch_max_ms = 1000;
    device->policy.staging_mib = 1;
    device->info.limits = (struct gantry_limits){.max_buffer_size = 1 << 30,
                                                 .max_blocks = {65535, 65535, 65535},
                                                 .max_args_bytes = 4096,
                                                 .inline_args_bytes = 128};
    fake->source = (struct gantry_kernel_source){.name = "nothing",
                                                 .args_name = "nothing_args",
                                                 .args_size = 4,
                                                 .dimensions = 1};
    fake->kernel = (struct gantry_kernel){.refs = 1,
                                          .source = &fake->source,
                                          .block = {32, 1, 1},
                                          .threads = 32,
                                          .direct = (struct gantry_drv_kernel *)1,
                                          .folded = {.drv = (struct gantry_drv_kernel *)2}};
    memory_open(device);
    object_link(&fake->kernel.object, device, OBJECT_KERNEL);
    the_fake = fake;
    *state = fake;
    return 0;
}

int fake_close(void **state)
{
    struct fake_device *fake = *state;

    fake->complete_in_wait = true;
    assert_int_equal(fake->kernel.refs, 1);
    object_unlink(&fake->kernel.object);
    objects_free(&fake->device);
    buffers_close(&fake->device);
    addresses_close(&fake->device.addresses);
    registered_free(&fake->device);
    memory_close(&fake->device);
    assert_int_equal(fake->memories, 0);
    assert_int_equal(fake->plans, 0);
    assert_int_equal(fake->queues, 0);
    pthread_mutex_destroy(&fake->device.lock);
    free(fake->device.loss);
    free(fake->device.loss_sentence);
    free(fake);
    the_fake = NULL;
    return 0;
}

void fake_complete(struct gantry_queue *queue, uint64_t value)
{
    complete(queue->drv, value);
}

struct gantry_queue *fake_queue(struct fake_device *fake)
{
    struct gantry_queue *queue;

    assert_int_equal(gantry_queue_create(&fake->device, NULL, &queue), GANTRY_OK);
    return queue;
}

struct gantry_list *fake_list(struct fake_device *fake)
{
    struct gantry_list *list;

    assert_int_equal(gantry_list_create(&fake->device, NULL, &list), GANTRY_OK);
    return list;
}

struct gantry_buffer *fake_buffer(struct fake_device *fake, uint64_t size)
{
    struct gantry_buffer_params params = {.size = size};
    struct gantry_buffer *buffer;

    assert_int_equal(gantry_buffer_create(&fake->device, &params, &buffer), GANTRY_OK);
    return buffer;
}

uint32_t fake_launch(struct fake_device *fake, struct gantry_list *list, uint32_t threads)
{
    uint32_t args = 0;

    return gantry_list_launch(list, &fake->kernel, (struct gantry_size){.x = threads}, &args,
                              sizeof(args));
}
