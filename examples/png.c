#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "png.h"

enum { BYTES_PER_PIXEL = 8, SIGNATURE_SIZE = 8 };

/* What one call has open. libpng leaves it by longjmp, so it is kept where that can't harm it. */
struct transfer {
    FILE *file;
    png_structp png;
    png_infop info;
    png_bytep *rows;
    char *why;
};

static void report_error(png_structp png, png_const_charp text)
{
    struct transfer *transfer = png_get_error_ptr(png);

    snprintf(transfer->why, PICTURE_WHY_SIZE, "the PNG data is broken or cut off (%s)", text);
    longjmp(png_jmpbuf(png), 1);
}

static void ignore_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

size_t picture_words(const struct picture *picture)
{
    return (size_t)picture->width * picture->height * 2;
}

bool picture_make(struct picture *picture, uint32_t width, uint32_t height)
{
    *picture = (struct picture){.width = width, .height = height};
    picture->pixels = malloc(picture_words(picture) * sizeof *picture->pixels);
    return picture->pixels != NULL;
}

void picture_free(struct picture *picture)
{
    free(picture->pixels);
    *picture = (struct picture){0};
}

/* ---- Reading -------------------------------------------------------------------------------- */

static bool open_for_reading(struct transfer *transfer, const char *path)
{
    png_byte signature[SIGNATURE_SIZE];

    transfer->file = fopen(path, "rb");
    if (!transfer->file) {
        snprintf(transfer->why, PICTURE_WHY_SIZE, "%s", strerror(errno));
        return false;
    }
    if (fread(signature, 1, SIGNATURE_SIZE, transfer->file) != SIGNATURE_SIZE ||
        png_sig_cmp(signature, 0, SIGNATURE_SIZE) != 0) {
        snprintf(transfer->why, PICTURE_WHY_SIZE, "%s",
                 ferror(transfer->file) ? strerror(errno) : "it is not a PNG picture");
        return false;
    }
    return true;
}

/* Whatever the file holds becomes four 16-bit samples a pixel. */
static void read_header(struct transfer *transfer, struct picture *picture)
{
    png_structp png = transfer->png;
    png_infop info = transfer->info;

    png_init_io(png, transfer->file);
    png_set_sig_bytes(png, SIGNATURE_SIZE);
    png_read_info(png, info);
    picture->width = png_get_image_width(png, info);
    picture->height = png_get_image_height(png, info);
    picture->deep = png_get_bit_depth(png, info) == 16;
    picture->alpha = (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) ||
                     png_get_valid(png, info, PNG_INFO_tRNS);
    png_set_expand_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xffff, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

static bool allocate(struct transfer *transfer, struct picture *picture)
{
    uint64_t pixels = (uint64_t)picture->width * picture->height;
    png_bytep bytes;

    if (pixels > PICTURE_MAX_PIXELS) {
        snprintf(transfer->why, PICTURE_WHY_SIZE, "%u x %u is more than %d pixels", picture->width,
                 picture->height, PICTURE_MAX_PIXELS);
        return false;
    }
    picture->pixels = malloc(pixels * BYTES_PER_PIXEL);
    transfer->rows = calloc(picture->height, sizeof *transfer->rows);
    if (!picture->pixels || !transfer->rows) {
        snprintf(transfer->why, PICTURE_WHY_SIZE, "out of memory for %u x %u pixels",
                 picture->width, picture->height);
        return false;
    }
    bytes = (png_bytep)picture->pixels;
    for (uint32_t y = 0; y < picture->height; y++)
        transfer->rows[y] = bytes + (size_t)y * picture->width * BYTES_PER_PIXEL;
    return true;
}

/* From PNG's order of bytes to words; a pixel takes the same eight bytes before and after. */
static void make_words(struct picture *picture)
{
    for (size_t i = 0; i < picture_words(picture); i++) {
        uint8_t bytes[4];

        memcpy(bytes, &picture->pixels[i], sizeof bytes);
        picture->pixels[i] = (uint32_t)bytes[0] << 8 | bytes[1] | (uint32_t)bytes[2] << 24 |
                             (uint32_t)bytes[3] << 16;
    }
}

static bool read_picture(struct transfer *transfer, struct picture *picture)
{
    if (setjmp(png_jmpbuf(transfer->png)))
        return false;
    read_header(transfer, picture);
    if (!allocate(transfer, picture))
        return false;
    png_read_image(transfer->png, transfer->rows);
    png_read_end(transfer->png, NULL);
    make_words(picture);
    return true;
}

bool picture_read(struct picture *picture, const char *path, char why[PICTURE_WHY_SIZE])
{
    struct transfer transfer = {.why = why};
    bool read = false;

    *picture = (struct picture){0};
    snprintf(why, PICTURE_WHY_SIZE, "out of memory");
    if (open_for_reading(&transfer, path)) {
        transfer.png =
            png_create_read_struct(PNG_LIBPNG_VER_STRING, &transfer, report_error, ignore_warning);
        if (transfer.png)
            transfer.info = png_create_info_struct(transfer.png);
        if (transfer.info)
            read = read_picture(&transfer, picture);
    }
    png_destroy_read_struct(&transfer.png, &transfer.info, NULL);
    free(transfer.rows);
    if (transfer.file)
        fclose(transfer.file);
    if (!read)
        picture_free(picture);
    return read;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void write_row(struct transfer *transfer, const struct picture *picture, uint32_t y)
{
    const uint32_t *words = picture->pixels + (size_t)y * picture->width * 2;
    uint32_t channels = picture->alpha ? 4 : 3;
    png_bytep to = transfer->rows[0];

    for (uint32_t x = 0; x < picture->width; x++) {
        for (uint32_t i = 0; i < channels; i++) {
            uint32_t sample = words[x * 2 + i / 2] >> (i % 2 * 16) & 0xffff;

            if (picture->deep)
                *to++ = (png_byte)(sample >> 8);
            *to++ = (png_byte)(picture->deep ? sample : (sample * 255 + 32767) / 65535);
        }
    }
    png_write_row(transfer->png, transfer->rows[0]);
}

static bool write_picture(struct transfer *transfer, const struct picture *picture)
{
    if (setjmp(png_jmpbuf(transfer->png)))
        return false;
    png_init_io(transfer->png, transfer->file);
    png_set_IHDR(transfer->png, transfer->info, picture->width, picture->height,
                 picture->deep ? 16 : 8, picture->alpha ? PNG_COLOR_TYPE_RGBA : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(transfer->png, transfer->info);
    for (uint32_t y = 0; y < picture->height; y++)
        write_row(transfer, picture, y);
    png_write_end(transfer->png, NULL);
    return true;
}

bool picture_write(const struct picture *picture, const char *path, char why[PICTURE_WHY_SIZE])
{
    png_bytep row = malloc((size_t)picture->width * BYTES_PER_PIXEL);
    struct transfer transfer = {.why = why, .rows = &row};
    bool written = false;

    snprintf(why, PICTURE_WHY_SIZE, "out of memory");
    transfer.file = row ? fopen(path, "wb") : NULL;
    if (row && !transfer.file)
        snprintf(why, PICTURE_WHY_SIZE, "%s", strerror(errno));
    if (transfer.file)
        transfer.png =
            png_create_write_struct(PNG_LIBPNG_VER_STRING, &transfer, report_error, ignore_warning);
    if (transfer.png)
        transfer.info = png_create_info_struct(transfer.png);
    if (transfer.info)
        written = write_picture(&transfer, picture);
    png_destroy_write_struct(&transfer.png, &transfer.info);
    free(row);
    if (transfer.file && fclose(transfer.file) != 0 && written) {
        snprintf(why, PICTURE_WHY_SIZE, "%s", strerror(errno));
        written = false;
    }
    if (transfer.file && !written)
        remove(path);
    return written;
}
