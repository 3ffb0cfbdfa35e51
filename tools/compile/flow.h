/* Finds the kernels in which a thread can return before a BARRIER or a subgroup operation.
 *
 * Why: between the steps of a chained entry there is a barrier. A thread that has returned early
 * waits there, where it would pair up with the others' BARRIER, or be waited for by their subgroup
 * operation. */
#ifndef GANTRY_COMPILE_FLOW_H
#define GANTRY_COMPILE_FLOW_H

#include "unit.h"

/* Sets early_return of every kernel; true where it can't be ruled out. */
void find_early_returns(struct unit *unit);

#endif
