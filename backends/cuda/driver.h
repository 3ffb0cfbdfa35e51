/* The CUDA plugin's own structs, and the entries of the contract by the file that has them. */
#ifndef GANTRY_CUDA_DRIVER_H
#define GANTRY_CUDA_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>

#include <gantry/backend.h>

#include "symbols.h"

struct nvrtc;
struct image;
struct chunk;
struct pool;

struct gantry_drv_instance {
    struct gantry_backend_services services;
    struct symbols cu;
    uint32_t device_count;
    pthread_mutex_t lock; /* guards nvrtc */
    struct nvrtc *nvrtc;  /* opened at the first kernel that needs it */
};

struct gantry_drv_device {
    struct gantry_drv_instance *instance;
    struct gantry_backend_device_info info;
    CUdevice ordinal;
    CUcontext context; /* the primary one, retained */
    enum gantry_submit_mode submit;
    bool write_value;   /* streams can write the queue's counter by themselves */
    uint32_t max_pitch; /* bytes between rows of a copy */
    uint32_t max_blocks_per_unit, registers_per_unit, shared_per_unit, shared_reserved;
    int least_priority,
        greatest_priority; /* as the driver counts: the greatest is the lowest number */
    atomic_int lost;       /* the CUresult that says so; 0: not lost */
    atomic_bool gone;      /* the context was destroyed behind our back */

    pthread_mutex_t image_lock; /* guards images, recent, and attributes of functions */
    struct image *images;
    struct image *recent; /* holds a reference, so that what kernel_block() loaded is not loaded
                             again for kernel_create() */

    pthread_mutex_t transfer_lock; /* guards transfer */
    CUstream transfer;             /* for the plugin's own uploads */
};

struct gantry_drv_kernel {
    CUfunction function;
    uint32_t args_size; /* bytes of its parameters */
    struct image *image;
};

enum { MARK_COUNT = 32 };

/* An event recorded behind the submission of this value. */
struct mark {
    CUevent event;
    uint64_t value; /* 0: not recorded yet */
};

struct gantry_drv_queue {
    struct gantry_drv_device *device;
    struct gantry_queue_stats *stats;
    CUstream stream;
    struct gantry_drv_memory
        counter;           /* pinned; the stream writes it, or whoever sees a mark done */
    atomic_uint polls;     /* of the counter */
    atomic_ullong asked;   /* nanoseconds: when a poll last asked the driver for errors */
    struct chunk *staging; /* staging.c */
    struct pool *pool;     /* pool.c */

    pthread_mutex_t lock; /* guards what follows: other queues and waiting threads look at it */
    uint64_t submitted;   /* the latest value */
    bool marking;         /* put a mark behind every submission */
    struct mark marks[MARK_COUNT];
    uint32_t next_mark; /* the oldest, used next */
};

/* instance.c */
enum gantry_status instance_open(const struct gantry_backend_services *services,
                                 const char *app_name, struct gantry_drv_instance **instance);
void instance_close(struct gantry_drv_instance *instance);
uint32_t device_count(struct gantry_drv_instance *instance);

/* describe.c */
enum gantry_status device_describe(struct gantry_drv_instance *instance, uint32_t index,
                                   struct gantry_backend_device_info *info);

/* device.c */
enum gantry_status device_open(struct gantry_drv_instance *instance, uint32_t index,
                               const struct gantry_backend_device_params *params,
                               struct gantry_drv_device **device);
void device_close(struct gantry_drv_device *device);
void device_native(struct gantry_drv_device *device, struct gantry_native_device *native);
enum gantry_status device_memory(struct gantry_drv_device *device, uint64_t *available,
                                 uint64_t *total);

/* fault.c */
void device_fault(struct gantry_drv_device *device, char *text, size_t size);

/* memory.c */
enum gantry_status memory_allocate(struct gantry_drv_device *device, enum gantry_memory kind,
                                   uint64_t size, struct gantry_drv_memory *memory);
void memory_free(struct gantry_drv_device *device, struct gantry_drv_memory *memory);
enum gantry_status memory_register(struct gantry_drv_device *device, void *pointer, uint64_t size,
                                   struct gantry_drv_memory *memory);

/* kernel.c */
enum gantry_status kernel_block(struct gantry_drv_device *device,
                                const struct gantry_backend_kernel_params *params,
                                uint32_t *threads);
enum gantry_status kernel_create(struct gantry_drv_device *device,
                                 const struct gantry_backend_kernel_params *params,
                                 struct gantry_drv_kernel **kernel,
                                 struct gantry_backend_kernel_info *info);
void kernel_destroy(struct gantry_drv_device *device, struct gantry_drv_kernel *kernel);

/* queue.c */
enum gantry_status queue_create(struct gantry_drv_device *device,
                                const struct gantry_backend_queue_params *params,
                                struct gantry_drv_queue **queue);
void queue_destroy(struct gantry_drv_queue *queue);
enum gantry_status queue_completed(struct gantry_drv_queue *queue, uint64_t *value);
enum gantry_status queue_wait(struct gantry_drv_queue *queue, uint64_t value, uint64_t timeout_ns);
void queue_native(struct gantry_drv_queue *queue, struct gantry_native_queue *native);

/* plan.c */
enum gantry_status plan_build(struct gantry_drv_device *device, const struct gantry_plan *plan,
                              struct gantry_drv_plan **built);
void plan_destroy(struct gantry_drv_plan *built);
enum gantry_status submit(struct gantry_drv_queue *queue, struct gantry_drv_plan *built,
                          const struct gantry_backend_submission *submission);

/* once.c */
enum gantry_status submit_once(struct gantry_drv_queue *queue, const struct gantry_plan *plan,
                               const struct gantry_backend_submission *submission);

#endif
