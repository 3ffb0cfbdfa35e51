/* Pictures: read from any PNG, written as one. */
#ifndef GANTRY_EXAMPLES_PNG_H
#define GANTRY_EXAMPLES_PNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pixel is four 16-bit samples in two words: red | green << 16, blue | alpha << 16. */
struct picture {
    uint32_t width, height;
    bool deep;  /* made from 16-bit samples, and so to be written with 16 */
    bool alpha; /* some pixel can be transparent */
    uint32_t *pixels;
};

enum {
    PICTURE_MAX_PIXELS = 1 << 28,
    PICTURE_WHY_SIZE = 160,
};

/* False: the picture is empty, and `why` says what is wrong with the file. */
bool picture_read(struct picture *picture, const char *path, char why[PICTURE_WHY_SIZE]);

/* False: `why` says what went wrong, and there is no file. */
bool picture_write(const struct picture *picture, const char *path, char why[PICTURE_WHY_SIZE]);

/* An opaque 8-bit picture whose pixels are still to be drawn. False: out of memory. */
bool picture_make(struct picture *picture, uint32_t width, uint32_t height);

void picture_free(struct picture *picture);

/* How many words the pixels are. */
size_t picture_words(const struct picture *picture);

#endif
