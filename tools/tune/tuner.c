/* The device, and how its backends are opened. */
#include "tuner.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernels.h"
#include "../output.h"
#include "ini_lines.h"

static const char app[] = "gantry tune";

void tuner_leave_out(struct tuner *tuner, const char *format, ...)
{
    va_list arguments;

    if (tuner->left_out_count == MOST_LEFT_OUT)
        return;
    va_start(arguments, format);
    vsnprintf(tuner->left_out[tuner->left_out_count++], JOB_WHY_SIZE, format, arguments);
    va_end(arguments);
}

/* ---- Views ---------------------------------------------------------------------------------- */

/* The text with more behind it; takes the text. NULL, and that was said: no memory. */
static char *append(char *text, const char *more)
{
    size_t length = text ? strlen(text) : 0, size = length + strlen(more) + 1;
    char *longer = realloc(text, size);

    if (!longer) {
        output_error("tune: out of memory for the settings on trial");
        free(text);
        return NULL;
    }
    memcpy(longer + length, more, size - length);
    return longer;
}

static bool open_side(const struct tuner *tuner, const struct view *view, const char *line,
                      bool quiet, struct gantry_side *side)
{
    char *text = append(append(NULL, view->settings), line);
    const struct gantry_side_params params = {.device = view->selector,
                                              .backend = view->backend,
                                              .package = tuner->kernels,
                                              .override = text,
                                              .app = app,
                                              .quiet = quiet};
    bool opened = text && gantry_side_open(side, &params);

    free(text);
    return opened;
}

bool view_open_side(const struct tuner *tuner, const struct view *view, const char *line,
                    struct gantry_side *side)
{
    return open_side(tuner, view, line, true, side);
}

static void view_close(struct view *view)
{
    gantry_side_close(&view->base);
    view->base = (struct gantry_side){0};
    view->open = false;
}

bool view_refresh(struct tuner *tuner, struct view *view)
{
    if (view->open && !view->outdated)
        return true;
    view_close(view);
    view->open = open_side(tuner, view, "", false, &view->base);
    view->outdated = !view->open;
    return view->open;
}

static bool adopt_line(struct view *view, const char *key, const char *value)
{
    char line[TRIAL_KEY_SIZE + TRIAL_VALUE_SIZE + 8];

    snprintf(line, sizeof line, "%s = %s\n", key, value);
    view->settings = append(view->settings, line);
    view->outdated = true;
    return view->settings != NULL;
}

bool view_adopt(struct tuner *tuner, const struct trial *trial)
{
    if (trial->kind == TRIAL_BACKEND || !trial_changed(trial))
        return true;
    return adopt_line(&tuner->views[trial->backend], trial->key, trial_winner(trial));
}

/* ---- All ------------------------------------------------------------------------------------ */

static bool find_kernels(struct tuner *tuner)
{
    const char *folder = tuner->options.kernels;
    size_t size = folder ? strlen(folder) + sizeof "/bench.gpk" : 0;

    tuner->kernels = folder ? malloc(size) : kernels_find("bench.gpk");
    if (tuner->kernels && folder)
        snprintf(tuner->kernels, size, "%s/bench.gpk", folder);
    if (!tuner->kernels)
        output_error(
            "tune: the kernels, bench.gpk, are neither beside this program nor in %s (name "
            "their folder with --kernels)",
            kernels_installed());
    return tuner->kernels != NULL;
}

/* The device is opened for its selection only; the views open it anew. */
static bool find_device(struct tuner *tuner)
{
    const struct gantry_params params = {.app_name = app};
    const struct gantry_device_params wanted = {.device = tuner->options.device,
                                                .backend = tuner->options.backend};
    struct gantry_device *device = NULL;
    bool found = gantry_open(&params, &tuner->g) == GANTRY_OK &&
                 gantry_device_open(tuner->g, &wanted, &device) == GANTRY_OK &&
                 gantry_device_info(device, &tuner->info) == GANTRY_OK;

    if (!found)
        output_failure("tune");
    else
        ini_model(tuner->info.name, tuner->model);
    gantry_device_close(&device);
    return found;
}

static bool add_view(struct tuner *tuner, unsigned index)
{
    const char *backend = tuner->info.backends[index].backend;
    struct view *view = &tuner->views[tuner->view_count];
    char text[80];

    *view = (struct view){.backend = backend, .driver = tuner->info.backends[index].driver_version};
    snprintf(view->selector, sizeof view->selector, "%s:%u", backend,
             tuner->info.backends[index].index);
    /* Other backends need not be loaded each time that a side is opened. */
    snprintf(text, sizeof text, "[gantry]\nbackend = %s\n[policy]\n", backend);
    view->settings = append(NULL, text);
    if (strcmp(backend, tuner->info.chosen_backend) == 0)
        tuner->preferred = tuner->view_count;
    tuner->view_count++;
    return view->settings && view_refresh(tuner, view);
}

bool tuner_open(struct tuner *tuner)
{
    if (!find_kernels(tuner) || !find_device(tuner))
        return false;
    for (unsigned i = 0; i < tuner->info.backend_count; i++) {
        const char *backend = tuner->info.backends[i].backend;

        if (tuner->options.backend && strcmp(backend, tuner->options.backend) != 0)
            continue;
        if (tuner->info.backends[i].skipped)
            tuner_leave_out(tuner, "%s: %s", backend, tuner->info.backends[i].skipped);
        else if (!add_view(tuner, i))
            return false;
    }
    return true;
}

void tuner_close(struct tuner *tuner)
{
    for (unsigned i = 0; i < tuner->view_count; i++) {
        view_close(&tuner->views[i]);
        free(tuner->views[i].settings);
    }
    jobs_close(tuner);
    gantry_close(&tuner->g);
    free(tuner->kernels);
}

unsigned tuner_usable_backends(const struct tuner *tuner)
{
    unsigned usable = 0;

    for (unsigned i = 0; i < tuner->info.backend_count; i++)
        usable += tuner->info.backends[i].skipped ? 0 : 1;
    return usable;
}
