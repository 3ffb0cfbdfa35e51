/* Finds the kernels in which a thread can return before a BARRIER of the body.
 *
 * Why: in a fold of dependent launches there is a barrier between the steps. A thread that has
 * returned early would meet the others' BARRIER there, and the two would pair up wrongly. */
#ifndef GANTRY_COMPILE_FLOW_H
#define GANTRY_COMPILE_FLOW_H

#include "unit.h"

/* Sets early_return of every kernel; true where it can't be ruled out. */
void find_early_returns(struct unit *unit);

#endif
