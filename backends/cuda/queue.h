/* What submitting needs of a queue. */
#ifndef GANTRY_CUDA_QUEUE_H
#define GANTRY_CUDA_QUEUE_H

#include "driver.h"

/* The counter as it stands. */
uint64_t queue_counter(const struct gantry_drv_queue *queue);

/* Brings the counter up to date where the device can't, and notices a lost device. */
enum gantry_status queue_refresh(struct gantry_drv_queue *queue);

/* What follows must be called with the context current. */

/* Lets the stream wait for other queues. */
enum gantry_status queue_wait_for_all(struct gantry_drv_queue *queue,
                                      const struct gantry_backend_submission *submission);

/* Lets the counter read the value when what was given to the stream before is done. */
enum gantry_status queue_signal(struct gantry_drv_queue *queue, uint64_t value);

/* After a failed submission: waits for what the stream already has of it, because the caller may
 * free what it uses. */
void queue_drain(struct gantry_drv_queue *queue);

#endif
