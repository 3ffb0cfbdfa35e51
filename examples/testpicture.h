/* A picture with something for every kernel, drawn rather than shipped. */
#ifndef GANTRY_EXAMPLES_TESTPICTURE_H
#define GANTRY_EXAMPLES_TESTPICTURE_H

#include "png.h"

/* 640 x 427: no multiple of any block. False: out of memory. */
bool testpicture_draw(struct picture *picture);

#endif
