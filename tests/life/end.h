/* C++ objects that live longer than main. */
#ifndef GANTRY_TESTS_LIFE_END_H
#define GANTRY_TESTS_LIFE_END_H

#ifdef __cplusplus
extern "C" {
#else
#include "life.h"
#endif

/* What the object that was made before main does when it goes. */
void destructor_keep(void (*at_end)(void));

/* Makes an object now that does this when it goes. */
void destructor_make_late(void (*at_end)(void));

#ifdef __cplusplus
}
#endif

#endif
