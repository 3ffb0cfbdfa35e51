/* edge: paints the edges of a picture over it, with seven kernels in one launch list, on any
 * device.
 *
 *     edge [OPTION…] INPUT.png OUTPUT.png
 *
 * The program does not know which backend runs: an INI file, or an option, says so. */
#include <stdio.h>

#include "compare.h"
#include "options.h"
#include "testpicture.h"

static const float threshold = 0.06f;

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "edge: %s: %s\n", what, why);
    return FAILED;
}

static void print_run(const struct gantry_device_info *info, const struct filter_times *times,
                      uint32_t repeat)
{
    printf("device             %s\n", info->name);
    printf("backend            %s\n", info->chosen_backend);
    printf("policy             %s\n", info->chosen_section);
    printf("first frame        %.3f ms\n", times->first_ms);
    if (repeat > 1)
        printf("each frame         %.3f ms, mean of %u\n", times->frame_ms, repeat - 1);
    printf("launches a submit  %g\n", times->launches_per_submit);
}

static int run_on_one(struct gantry *g, const struct options *options,
                      const struct filter_params *params)
{
    const struct gantry_device_params device_params = {.device = options->device,
                                                       .backend = options->backend};
    struct gantry_device *device;
    struct gantry_device_info info;
    struct filter_times times;
    struct filter filter;
    enum gantry_status status;

    if (gantry_device_open(g, &device_params, &device) != GANTRY_OK)
        return complain("opening a device", gantry_last_error());
    status = filter_open(&filter, device, params);
    if (status == GANTRY_OK)
        status = filter_run(&filter, options->repeat, &times);
    if (status == GANTRY_OK)
        status = gantry_device_info(device, &info);
    if (status == GANTRY_OK)
        print_run(&info, &times, options->repeat);
    else
        complain("filtering", gantry_last_error());
    filter_close(&filter);
    gantry_device_close(&device);
    return status == GANTRY_OK ? DONE : FAILED;
}

static int run(const struct options *options, const struct picture *from, struct picture *to)
{
    const struct filter_params filter_params = {.from = from,
                                                .to = to,
                                                .kernels = options->kernels,
                                                .threshold = threshold};
    const struct gantry_params params = {.app_name = "edge", .config_file = options->config};
    struct gantry *g;
    int status;

    if (gantry_open(&params, &g) != GANTRY_OK)
        return complain("starting", gantry_last_error());
    if (options->all)
        status = compare_all(g, options->repeat, &filter_params) ? DONE : FAILED;
    else
        status = run_on_one(g, options, &filter_params);
    gantry_close(&g);
    return status;
}

static int filter_file(const struct options *options)
{
    char why[PICTURE_WHY_SIZE];
    struct picture from, to;
    int status;

    if (!picture_read(&from, options->input, why))
        return complain(options->input, why);
    if (!picture_make(&to, from.width, from.height)) {
        status = complain(options->input, "out of memory");
    } else {
        to.deep = from.deep;
        to.alpha = from.alpha;
        status = run(options, &from, &to);
    }
    if (status == DONE && options->output && !picture_write(&to, options->output, why))
        status = complain(options->output, why);
    picture_free(&to);
    picture_free(&from);
    return status;
}

static int make_test_picture(const char *path)
{
    char why[PICTURE_WHY_SIZE];
    struct picture picture;
    int status = DONE;

    if (!testpicture_draw(&picture))
        return complain(path, "out of memory");
    if (!picture_write(&picture, path, why))
        status = complain(path, why);
    picture_free(&picture);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    int status = options_read(&options, argc, argv);

    if (status < 0)
        return DONE;
    if (status == DONE)
        status =
            options.test_picture ? make_test_picture(options.test_picture) : filter_file(&options);
    if (fflush(stdout) != 0)
        status = complain("output", "it could not be written");
    return status;
}
