/* Races inside the concurrent sections of a list: commands of different strands that can touch the
 * same bytes, of which one writes. */
#ifndef GANTRY_CORE_RACES_H
#define GANTRY_CORE_RACES_H

#include <stdbool.h>
#include <stdint.h>

struct gantry_list;

/* Kinds of pairs that were warned about, at most; one pair of each is named. */
#define RACES_MAX 8

/* One side of a pair: a kernel's argument, or a side of another kind of command. */
struct race_side {
    const void *what;
    uint32_t which;
};

struct races {
    bool looked; /* at the finished list */
    uint32_t count;
    struct race_side pairs[RACES_MAX][2];
};

/* Logs a warning for each kind of pair that was not warned about before. A launch reaches as far as
 * its kernel states, without a statement to the end of the buffer. The list's pointers were found
 * good. Does nothing for want of memory. */
void races_look(struct gantry_list *list);

#endif
