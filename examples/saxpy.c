/* y = a x + y on whatever device the machine has. */
#include <stdio.h>

#include <gantry/gantry.h>
#include <saxpy.h>

enum { COUNT = 1 << 20 };

static float x[COUNT], y[COUNT];

int main(void)
{
    const struct gantry_module_params package = {.data = saxpy_gpk, .size = saxpy_gpk_size};
    const struct gantry_buffer_params size = {.size = sizeof x};
    struct gantry *g = NULL;
    struct gantry_device *device = NULL;
    struct gantry_queue *queue = NULL;
    struct gantry_module *module = NULL;
    struct gantry_kernel *kernel = NULL;
    struct gantry_buffer *bx = NULL, *by = NULL;
    struct gantry_list *list = NULL;
    struct gantry_point done;
    int wrong = 0, failed = 1;

    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    if (gantry_open(NULL, &g) || gantry_device_open(g, NULL, &device) ||
        gantry_queue_create(device, NULL, &queue) ||
        gantry_module_load(device, &package, &module) ||
        saxpy_create(module, (struct gantry_size){0}, &kernel) ||
        gantry_buffer_create(device, &size, &bx) || gantry_buffer_create(device, &size, &by) ||
        gantry_list_create(device, NULL, &list))
        goto fail;

    struct saxpy_args args = {gantry_buffer_address(bx), gantry_buffer_address(by), 2.0f, COUNT};

    gantry_list_upload(list, bx, 0, x, sizeof x);
    gantry_list_upload(list, by, 0, y, sizeof y);
    saxpy_launch(list, kernel, (struct gantry_size){.x = COUNT}, &args);
    gantry_list_download(list, by, 0, y, sizeof y);
    if (gantry_queue_submit(queue, list, NULL, 0, &done) || gantry_wait(done, GANTRY_FOREVER))
        goto fail;

    for (int i = 0; i < COUNT; i++)
        wrong += y[i] != 2.0f * (float)i + 1.0f;
    printf("saxpy of %d elements: %d wrong\n", COUNT, wrong);
    failed = wrong != 0;

fail:
    if (failed && !wrong)
        fprintf(stderr, "saxpy: %s\n", gantry_last_error());
    gantry_list_destroy(&list);
    gantry_buffer_destroy(&by);
    gantry_buffer_destroy(&bx);
    gantry_kernel_destroy(&kernel);
    gantry_module_unload(&module);
    gantry_queue_destroy(&queue);
    gantry_device_close(&device);
    gantry_close(&g);
    return failed;
}
