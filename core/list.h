#ifndef GANTRY_CORE_LIST_H
#define GANTRY_CORE_LIST_H

#include "command.h"
#include "device.h"
#include "plan.h"
#include "races.h"

/* A growing array of bytes, with offsets instead of pointers because it moves. */
struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

/* One way through host memory: a piece of staging memory and the host memory that belongs to it. */
struct transfer {
    void *host; /* read for uploads, written for downloads */
    uint64_t staging, size, rows, host_pitch;
};

/* What one submission of a list occupies until it has completed: its staging memory, and for a
 * finished list the plan that the backend built over it. A list without host transfers has one
 * instance, which any number of submissions share; a list with transfers makes up to
 * LIST_INSTANCES. */
struct list_instance {
    struct gantry_drv_plan *built;
    struct memory upload, readback; /* size 0: none */
    struct gantry_queue *queue;     /* of the last submission, held; NULL: none */
    uint64_t value;
    uint64_t serial;            /* of that submission within the list */
    struct transfer *downloads; /* to deliver after the last submission; guarded by that queue */
    uint32_t download_count;
    uint64_t dirty_from, dirty_to; /* bytes of the table that differ from the built plan's */
};

#define LIST_INSTANCES 3
#define LIST_RECENT    8

/* What patching a finished list needs; empty when it has no patchable launches. */
struct patches {
    uint8_t *table; /* as the next submission must find it */
    uint64_t table_size;
    struct plan_place *places; /* in the table, of the patchable launches */
    uint32_t *numbers;         /* of the patchable launches, from 1, by their ids; 0: not one */
};

enum list_state {
    LIST_RECORDING,
    LIST_FINISHED,
    LIST_FAILED, /* the first failure is kept; no way back */
};

struct gantry_list {
    struct object object;
    char *label;
    enum list_state state;
    enum gantry_status failure;
    char *failure_text; /* NULL when there was no memory for it */

    struct command *commands;
    uint32_t command_count, command_capacity;
    struct bytes bytes; /* arguments and labels */
    uint32_t next_id;
    uint32_t launch_count;
    uint64_t upload_size, readback_size; /* staging that one instance needs */
    uint32_t transfer_count;
    uint32_t folded_args, folded_grids; /* launches through the folded entry, by reason */
    uint32_t folded, unchained;         /* of the plan: launches that share an operation, and runs
                                           that could have shared one */
    size_t current_label;               /* offset into bytes, or NO_LABEL */

    uint32_t section, strand; /* of the next command */
    bool concurrent, ordered; /* open sections */
    bool batch; /* an open batch: not linked to its device, and holds nothing that it uses */

    struct gantry_kernel *recent[LIST_RECENT]; /* some of those in use, by their addresses */
    struct gantry_kernel **kernels;            /* held */
    uint32_t kernel_count, kernel_capacity;
    struct gantry_buffer **buffers; /* held */
    uint32_t buffer_count, buffer_capacity;

    struct patchable *patchables; /* launches, oldest first */
    uint32_t patchable_count, patchable_capacity;
    struct patches patches;

    struct plan plan; /* of an unfinished list's latest submission, for its memory */
    struct list_instance instances[LIST_INSTANCES];
    uint32_t instance_count;
    struct gantry_queue *last_queue; /* of the last submission, held; NULL: none */
    uint64_t last_value;
    uint64_t submissions;
    struct gantry_list_info plan_info; /* filled by finish */

    uint64_t validated; /* with so many buffers destroyed, and one more; 0: not as it is now */
    struct races races;
};

/* An empty list that its device does not know of; NULL when there is no memory. */
struct gantry_list *list_make(struct gantry_device *device, const char *label);

/* Room for so many more bytes; false when there is no memory. */
bool bytes_reserve(struct bytes *bytes, size_t size);

/* Keeps the list's first failure: the thread's sentence. Returns 0, as recording functions do. */
uint32_t list_latch(struct gantry_list *list, enum gantry_status status);

/* Sets the thread's sentence to the list's first failure and returns its status. */
enum gantry_status list_failure(const struct gantry_list *list);

/* The instance for the next submission: free, its staging memory filled from the host memory of the
 * uploads, and with a built plan when the list is finished. May wait for an earlier submission of
 * this list; *waited says so. */
enum gantry_status list_acquire(struct gantry_list *list, struct list_instance **instance,
                                bool *waited);

/* Builds the first instance of a list that is being finished. */
enum gantry_status list_build_first(struct gantry_list *list);

/* GANTRY_E_INVALID_STATE, naming `what`, when a section is open. */
enum gantry_status list_check_open(const struct gantry_list *list, const char *what);

/* GANTRY_OK when the list can be recorded into; otherwise the failure, naming `what`. */
enum gantry_status list_check_recordable(struct gantry_list *list, const char *what);

static inline enum gantry_status list_recordable(struct gantry_list *list, const char *what)
{
    return list && list->state == LIST_RECORDING && device_is_usable(list->object.device)
               ? GANTRY_OK
               : list_check_recordable(list, what);
}

/* Makes list->plan over an instance's staging memory. */
enum gantry_status list_plan(struct gantry_list *list, struct list_instance *instance);

/* Remembers that the list's latest submission, over this instance, is `value` of `queue`. */
void list_submitted(struct gantry_list *list, struct list_instance *instance,
                    struct gantry_queue *queue, uint64_t value);

/* The list was submitted once without being finished: forget its commands. */
void list_reset(struct gantry_list *list);

/* As grid_of() for a patchable launch, and that its largest number of threads is kept. */
enum gantry_status patch_blocks(const struct patchable *patchable, struct gantry_size threads,
                                const char *what, struct gantry_size *blocks);

/* list->plan is about to be built: keeps its table for patching, or replaces it by the one that was
 * kept and patched since. */
enum gantry_status patch_keep(struct gantry_list *list);
void patch_forget(struct gantry_list *list);

/* Hands what the instance's built plan lacks to a submission; list_submitted() then forgets it. */
void patch_submission(const struct gantry_list *list, const struct list_instance *instance,
                      struct gantry_backend_submission *submission);

/* The arguments with which the next submission runs a launch; NULL when it does not run it. */
const uint8_t *patch_args(const struct gantry_list *list, const struct command_launch *launch);

/* GANTRY_E_INVALID_STATE when a buffer of a copy, fill or transfer was destroyed. */
enum gantry_status list_check_buffers(const struct gantry_list *list);

/* Frees at once; the caller knows that no submission is left. */
void list_free(struct gantry_list *list);

#endif
