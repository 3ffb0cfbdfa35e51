/* Every kind of PNG becomes the samples that it stands for, and comes back as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <png.h>

#include "../../examples/png.h"
#include "../unit/scratch.h"

enum { WIDTH = 13, HEIGHT = 9, MAX_ROW = WIDTH * 8 };

struct kind {
    int depth, colour, interlace;
    bool transparent; /* a tRNS chunk */
};

/* The raw samples of the test pictures: anything that differs from place to place. */
static uint32_t raw_sample(const struct kind *kind, int x, int y, int channel)
{
    return (uint32_t)(x * 2551 + y * 9973 + channel * 12553) & ((1u << kind->depth) - 1);
}

static int channels_of(const struct kind *kind)
{
    int channels = kind->colour & PNG_COLOR_MASK_COLOR ? 3 : 1;

    if (kind->colour == PNG_COLOR_TYPE_PALETTE)
        channels = 1;
    return channels + (kind->colour & PNG_COLOR_MASK_ALPHA ? 1 : 0);
}

static png_color palette_colour(uint32_t index)
{
    return (png_color){(png_byte)(index * 37), (png_byte)(255 - index * 11), (png_byte)(index * 5)};
}

static void pack_row(const struct kind *kind, int y, png_byte *row)
{
    int channels = channels_of(kind), bit = 0;

    memset(row, 0, MAX_ROW);
    for (int i = 0; i < WIDTH * channels; i++, bit += kind->depth) {
        uint32_t sample = raw_sample(kind, i / channels, y, i % channels);

        if (kind->depth == 16) {
            row[bit / 8] = (png_byte)(sample >> 8);
            row[bit / 8 + 1] = (png_byte)sample;
        } else {
            row[bit / 8] |= (png_byte)(sample << (8 - kind->depth - bit % 8));
        }
    }
}

static void set_colours(png_structp png, png_infop info, const struct kind *kind)
{
    png_color palette[256];
    png_byte alpha[2] = {0, 100};
    png_color_16 clear = {.gray = 1, .red = 1, .green = 1, .blue = 1};

    if (kind->colour == PNG_COLOR_TYPE_PALETTE) {
        for (uint32_t i = 0; i < 1u << kind->depth; i++)
            palette[i] = palette_colour(i);
        png_set_PLTE(png, info, palette, 1 << kind->depth);
    }
    if (kind->transparent)
        png_set_tRNS(png, info, alpha, 2, &clear);
}

static const char *write_kind(const struct kind *kind)
{
    const char *path = scratch_write("kind.png", "");
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_byte rows[HEIGHT][MAX_ROW];
    png_bytep row_pointers[HEIGHT];

    assert_non_null(file);
    for (int y = 0; y < HEIGHT; y++) {
        pack_row(kind, y, rows[y]);
        row_pointers[y] = rows[y];
    }
    png_init_io(png, file);
    png_set_IHDR(png, info, WIDTH, HEIGHT, kind->depth, kind->colour, kind->interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    set_colours(png, info, kind);
    png_write_info(png, info);
    png_write_image(png, row_pointers);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* What the format says a pixel's four 16-bit samples are. */
static void expected_pixel(const struct kind *kind, int x, int y, uint32_t samples[4])
{
    uint32_t full = (1u << kind->depth) - 1, first = raw_sample(kind, x, y, 0);
    int channels = channels_of(kind);
    bool grey = channels < 3;

    if (kind->colour == PNG_COLOR_TYPE_PALETTE) {
        png_color colour = palette_colour(first);

        samples[0] = colour.red * 257u;
        samples[1] = colour.green * 257u;
        samples[2] = colour.blue * 257u;
        samples[3] = kind->transparent && first < 2 ? first * 100 * 257 : 65535;
        return;
    }
    for (int i = 0; i < 3; i++)
        samples[i] = raw_sample(kind, x, y, grey ? 0 : i) * (65535 / full);
    samples[3] = 65535;
    if (kind->colour & PNG_COLOR_MASK_ALPHA)
        samples[3] = raw_sample(kind, x, y, channels - 1) * (65535 / full);
    if (kind->transparent && first == 1 &&
        (grey || (raw_sample(kind, x, y, 1) == 1 && raw_sample(kind, x, y, 2) == 1)))
        samples[3] = 0;
}

static void check_kind(const struct kind *kind)
{
    struct picture picture;
    char why[PICTURE_WHY_SIZE];

    if (!picture_read(&picture, write_kind(kind), why))
        fail_msg("depth %d, colour %d: %s", kind->depth, kind->colour, why);
    assert_int_equal(picture.width, WIDTH);
    assert_int_equal(picture.height, HEIGHT);
    assert_int_equal(picture.deep, kind->depth == 16);
    assert_int_equal(picture.alpha,
                     (kind->colour & PNG_COLOR_MASK_ALPHA) != 0 || kind->transparent);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        uint32_t samples[4];

        expected_pixel(kind, i % WIDTH, i / WIDTH, samples);
        assert_int_equal(picture.pixels[2 * i], samples[0] | samples[1] << 16);
        assert_int_equal(picture.pixels[2 * i + 1], samples[2] | samples[3] << 16);
    }
    picture_free(&picture);
}

static void test_every_kind(void **state)
{
    static const struct {
        int colour, depths[6];
        bool with_transparent;
    } families[] = {
        {PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}, true}, {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8}, true},
        {PNG_COLOR_TYPE_RGB, {8, 16}, true},           {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}, false},
        {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16}, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        for (const int *depth = families[i].depths; *depth; depth++) {
            for (int variant = 0; variant < (families[i].with_transparent ? 4 : 2); variant++)
                check_kind(&(struct kind){*depth, families[i].colour,
                                          variant & 1 ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                                          variant & 2});
        }
    }
}

static void test_round_trip(void **state)
{
    char why[PICTURE_WHY_SIZE];

    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        struct picture picture, again;
        const char *path = scratch_path("again.png");

        assert_true(picture_make(&picture, 5, 7));
        picture.deep = variant & 1;
        picture.alpha = variant & 2;
        for (uint32_t i = 0; i < 5 * 7 * 2; i++) {
            uint32_t low = picture.deep ? i * 1777 & 0xffff : i % 256 * 257;
            uint32_t high = i % 2 && !picture.alpha ? 0xffff : low ^ 0xffff;

            picture.pixels[i] = low | high << 16;
        }
        assert_true(picture_write(&picture, path, why));
        assert_true(picture_read(&again, path, why));
        assert_int_equal(again.deep, picture.deep);
        assert_int_equal(again.alpha, picture.alpha);
        assert_memory_equal(again.pixels, picture.pixels, 5 * 7 * 2 * sizeof *picture.pixels);
        picture_free(&picture);
        picture_free(&again);
    }
}

/* However much is missing, reading says so; it never gives half a picture. */
static void test_cut_off_anywhere(void **state)
{
    static const struct kind kind = {8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_ADAM7, false};
    const char *cut = scratch_path("cut.png");
    char why[PICTURE_WHY_SIZE];
    struct picture picture;
    uint8_t bytes[4096];
    FILE *file = fopen(write_kind(&kind), "rb");
    size_t size;

    (void)state;
    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(size, 100, sizeof bytes - 1);
    for (size_t keep = 0; keep < size; keep++) {
        scratch_write_bytes("cut.png", bytes, keep);
        if (picture_read(&picture, cut, why))
            fail_msg("%zu of %zu bytes were taken for a picture", keep, size);
        assert_null(picture.pixels);
        assert_true(strlen(why) > 0);
    }
}

static void test_damaged_anywhere(void **state)
{
    static const struct kind kind = {16, PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE, false};
    char why[PICTURE_WHY_SIZE];
    struct picture picture;
    uint8_t bytes[4096];
    FILE *file = fopen(write_kind(&kind), "rb");
    size_t size;

    (void)state;
    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x40;
        scratch_write_bytes("damaged.png", bytes, size);
        if (picture_read(&picture, scratch_path("damaged.png"), why))
            picture_free(&picture);
        else
            assert_true(strlen(why) > 0);
        bytes[i] ^= 0x40;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_cut_off_anywhere),
        cmocka_unit_test(test_damaged_anywhere),
    };

    return cmocka_run_group_tests_name("png", tests, scratch_open, scratch_close);
}
