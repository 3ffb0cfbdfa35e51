/* A plug-in of a program that knows nothing of gantry: the library comes and goes with it. */
#include "scene.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void guest_work(const char *device);
EXPORT void guest_leave_open(const char *device);

void guest_work(const char *device)
{
    scene_device = device;
    scene_whole();
}

void guest_leave_open(const char *device)
{
    static struct scene scene;

    scene_device = device;
    scene_open(&scene, NULL);
    scene_start(&scene);
    scene_check(&scene);
}
