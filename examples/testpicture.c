#include "testpicture.h"

enum { WIDTH = 640, HEIGHT = 427 };

struct colour {
    uint32_t red, green, blue; /* 0 to 255 */
};

static bool in_disc(int x, int y, int at_x, int at_y, int radius)
{
    return (x - at_x) * (x - at_x) + (y - at_y) * (y - at_y) < radius * radius;
}

/* Evening: a sky that grows darker upwards, a sun, hills, and a gantry with its rocket. */
static struct colour scene(int x, int y)
{
    int hill = 300 + (x - 200) * (x - 200) / 1500;
    bool tower = x >= 400 && x < 470 && y >= 90 && y < 360;
    bool strut = (x - 400) % 35 < 5 || (x + y) % 45 < 6 || (x - y + HEIGHT) % 45 < 6;
    bool rocket = x >= 490 && x < 530 && y >= 140 && y < 350;
    bool nose = y >= 90 && y < 140 && 5 * (x > 510 ? x - 510 : 510 - x) < 2 * (y - 90);

    if (rocket || nose)
        return y / 30 % 4 == 2 ? (struct colour){190, 30, 30} : (struct colour){235, 235, 230};
    if (tower && strut)
        return (struct colour){120, 60, 40};
    if (y >= 350)
        return (struct colour){60, 62, 66};
    if (y > hill)
        return (struct colour){30, 80 + (uint32_t)(y - hill) / 4, 50};
    if (in_disc(x, y, 180, 190, 60))
        return (struct colour){250, 210, 120};
    return (struct colour){40 + (uint32_t)y / 2, 60 + (uint32_t)y / 3, 140};
}

bool testpicture_draw(struct picture *picture)
{
    uint32_t *to;

    if (!picture_make(picture, WIDTH, HEIGHT))
        return false;
    to = picture->pixels;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            struct colour colour = scene(x, y);

            *to++ = (colour.red | colour.green << 16) * 257;
            *to++ = (colour.blue | 255u << 16) * 257;
        }
    }
    return true;
}
