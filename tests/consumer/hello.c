/* What a user of the installed library writes first, in the common part of C11 and C++17: list what
 * there is, then y = 2 x + y on the first device.
 *
 * Prints a line "backend NAME PATH" for each backend that was loaded, and "saxpy on DEVICE" or "no
 * device". Exit status: 0, or 1 with a sentence. */
#include <stdio.h>
#include <string.h>

#include <gantry/gantry.h>
#include <gantry/kernels/saxpy.h>

#define N 1000

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, gantry_last_error());
    return 1;
}

static void list_backends(struct gantry *g)
{
    struct gantry_backend_info info;
    uint32_t i;

    for (i = 0; gantry_backend_describe(g, i, &info) == GANTRY_OK; i++)
        if (info.loaded)
            printf("backend %s %s\n", info.name, info.path);
}

static int run_saxpy(struct gantry_device *device)
{
    struct gantry_module_params params;
    struct gantry_buffer_params buffer_params;
    struct gantry_size block = {0, 0, 0}, threads = {N, 1, 1};
    struct gantry_module *module;
    struct gantry_kernel *kernel;
    struct gantry_buffer *x, *y;
    struct gantry_queue *queue;
    struct gantry_list *list;
    struct gantry_point point;
    struct saxpy_args args;
    float values[N];
    int i;

    memset(&params, 0, sizeof(params));
    memset(&buffer_params, 0, sizeof(buffer_params));
    params.data = saxpy_gpk;
    params.size = saxpy_gpk_size;
    buffer_params.size = sizeof(values);
    if (gantry_module_load(device, &params, &module) || saxpy_create(module, block, &kernel) ||
        gantry_buffer_create(device, &buffer_params, &x) ||
        gantry_buffer_create(device, &buffer_params, &y) ||
        gantry_queue_create(device, NULL, &queue) || gantry_list_create(device, NULL, &list))
        return fail("setting up");
    for (i = 0; i < N; i++)
        values[i] = (float)i;
    args.x = gantry_buffer_address(x);
    args.y = gantry_buffer_address(y);
    args.a = 2.0f;
    args.n = N;
    gantry_list_upload(list, x, 0, values, sizeof(values));
    gantry_list_upload(list, y, 0, values, sizeof(values));
    saxpy_launch(list, kernel, threads, &args);
    gantry_list_download(list, y, 0, values, sizeof(values));
    if (gantry_queue_submit(queue, list, NULL, 0, &point) || gantry_wait(point, GANTRY_FOREVER))
        return fail("running");
    for (i = 0; i < N; i++)
        if (values[i] != 3.0f * (float)i) {
            fprintf(stderr, "y[%d] is %g\n", i, (double)values[i]);
            return 1;
        }
    return 0; /* gantry_close() takes the rest with it */
}

int main(void)
{
    struct gantry_device_info info;
    struct gantry_device *device;
    struct gantry *g;
    int status = 0;

    if (gantry_open(NULL, &g))
        return fail("gantry_open");
    list_backends(g);
    if (gantry_device_open(g, NULL, &device)) {
        printf("no device: %s\n", gantry_last_error());
    } else if (gantry_device_info(device, &info)) {
        status = fail("gantry_device_info");
    } else {
        status = run_saxpy(device);
        if (status == 0)
            printf("saxpy on %s\n", info.name);
    }
    gantry_close(&g);
    return status;
}
