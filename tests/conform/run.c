#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define EXIT_SKIP 77

/* ---- The device ----------------------------------------------------------------------------- */

/* gantry and the plugins of the tests report broken promises as errors, from any thread, one at a
 * time. */
static void note_message(void *user, enum gantry_log_level level, const char *text)
{
    struct run *run = user;

    if (level != GANTRY_LOG_ERROR || run->errors_allowed)
        return;
    if (run->errors++ == 0)
        snprintf(run->error, sizeof(run->error), "%s", text);
}

/* Whether the selector is BACKEND:NUMBER and the backend sees no such device here. */
static bool is_absent(struct conform *c)
{
    const char *selector = c->options->device;
    const char *colon = selector ? strrchr(selector, ':') : NULL;
    struct gantry_backend_info info;

    if (!colon || colon[1] < '0' || colon[1] > '9')
        return false;
    for (uint32_t i = 0; gantry_backend_describe(c->g, i, &info) == GANTRY_OK; i++)
        if (strlen(info.name) == (size_t)(colon - selector) &&
            strncmp(info.name, selector, strlen(info.name)) == 0)
            return info.device_count <= strtoul(colon + 1, NULL, 10);
    return true;
}

/* The exit status after opening failed. */
static int give_up(struct conform *c, enum gantry_status status)
{
    char sentence[MESSAGE_SIZE];
    bool absent;

    snprintf(sentence, sizeof(sentence), "%s", gantry_last_error());
    absent = status == GANTRY_E_NO_DEVICE || (c->g && is_absent(c));
    printf("%s: %s\n", absent ? "skip" : "FAIL", sentence);
    gantry_close(&c->g);
    return absent ? EXIT_SKIP : EXIT_FAILURE;
}

enum gantry_status open_again(struct conform *c, const char *policy, struct gantry **g,
                              struct gantry_device **device)
{
    struct gantry_params params = {.app_name = "conform",
                                   .override_text = policy,
                                   .log = note_message,
                                   .log_user = c->run,
                                   .log_level = GANTRY_LOG_ERROR};
    struct gantry_device_params device_params = {.device = c->options->device};
    enum gantry_status status = gantry_open(&params, g);

    return status == GANTRY_OK ? gantry_device_open(*g, &device_params, device) : status;
}

int open_device(struct conform *c)
{
    enum gantry_status status = open_again(c, NULL, &c->g, &c->device);

    if (status == GANTRY_OK)
        status = gantry_device_info(c->device, &c->info);
    if (status == GANTRY_OK)
        status = gantry_queue_create(c->device, NULL, &c->queue);
    if (status != GANTRY_OK)
        return give_up(c, status);
    printf("device: %s (%s) through %s\n", c->info.name, gantry_device_type_name(c->info.type),
           c->info.chosen_backend);
    if (!c->options->gpu || c->info.type != GANTRY_DEVICE_CPU)
        return 0;
    printf("skip: a GPU was asked for with --gpu\n");
    gantry_queue_destroy(&c->queue);
    gantry_device_close(&c->device);
    gantry_close(&c->g);
    return EXIT_SKIP;
}

void close_device(struct conform *c)
{
    struct run *run = c->run;

    for (unsigned i = 0; i < run->package_count; i++)
        gantry_module_unload(&run->packages[i].module);
    gantry_queue_destroy(&c->queue);
    gantry_device_close(&c->device);
    gantry_close(&c->g);
    free(run->made);
    if (run->errors) {
        printf("FAIL closing: %s\n", run->error);
        run->counts[FAILED]++;
    }
}

/* ---- One case ------------------------------------------------------------------------------- */

noreturn void fail_at(struct conform *c, const char *file, int line, const char *format, ...)
{
    const char *name = strrchr(file, '/');
    char text[MESSAGE_SIZE - 128];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(c->run->message, sizeof(c->run->message), "%.80s:%d: %s", name ? name + 1 : file, line,
             text);
    c->run->outcome = FAILED;
    longjmp(c->run->end, 1);
}

noreturn void skip(struct conform *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(c->run->message, sizeof(c->run->message), format, args);
    va_end(args);
    c->run->outcome = SKIPPED;
    longjmp(c->run->end, 1);
}

/* What went wrong behind the case's back. */
static void check_messages(struct conform *c)
{
    struct run *run = c->run;

    if (run->errors && run->outcome != FAILED) {
        snprintf(run->message, sizeof(run->message), "an error was logged: %.1900s", run->error);
        run->outcome = FAILED;
    }
    run->errors = 0;
    run->errors_allowed = false;
}

void run_case(struct conform *c, const struct conform_case *one)
{
    static const char *const words[] = {"ok  ", "FAIL", "skip"};
    struct run *run = c->run;

    run->outcome = PASSED;
    run->message[0] = '\0';
    if (setjmp(run->end) == 0)
        one->run(c);
    destroy_made(c);
    check_messages(c);
    run->counts[run->outcome]++;
    printf("%s %s%s%s%s%s%s\n", words[run->outcome], one->name, one->field ? " (" : "",
           one->field ? one->field : "", one->field ? ")" : "", run->message[0] ? ": " : "",
           run->message);
    fflush(stdout);
}

int print_summary(const struct conform *c)
{
    const unsigned *counts = c->run->counts;

    printf("%u passed, %u failed, %u skipped\n", counts[PASSED], counts[FAILED], counts[SKIPPED]);
    return counts[FAILED] ? EXIT_FAILURE : EXIT_SUCCESS;
}
