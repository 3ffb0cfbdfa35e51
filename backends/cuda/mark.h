/* Events behind a queue's submissions.
 *
 * An event that has not been recorded is no wait at all, and one that is recorded late waits for
 * too much; so a mark knows its value. Where the device writes the counter, marks are only made for
 * those who ask: for the latest submission at once, which is exact; a first question about an
 * earlier one sets `marking`, after which every submission gets its own. Without such a device each
 * has one.
 *
 * Call with the queue's lock held and the context current. */
#ifndef GANTRY_CUDA_MARK_H
#define GANTRY_CUDA_MARK_H

#include "driver.h"

/* Records a mark for the latest submission. */
enum gantry_status mark_record(struct gantry_drv_queue *queue, struct mark **mark);

/* The mark of the earliest submission that is not before value, NULL: there is none. The ring is
 * short, so it may be a later one than that of value itself: enough, but not exact. */
struct mark *mark_find(struct gantry_drv_queue *queue, uint64_t value);

/* The highest value whose mark is done, 0: none. */
enum gantry_status mark_completed(struct gantry_drv_queue *queue, uint64_t *value);

void marks_destroy(struct gantry_drv_queue *queue);

#endif
