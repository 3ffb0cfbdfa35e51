/* What belongs to the program and must be as it was after every call: signals, the locale, the way
 * floats are rounded, the current folder, the environment, the driver's current context. */
#include <dlfcn.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "life.h"

extern char **environ;

/* ---- What is looked at ----------------------------------------------------------------------- */

struct surroundings {
    struct sigaction actions[NSIG];
    sigset_t blocked;
    char locale[256], folder[1024];
    int rounding, traps;
    mode_t mask;
    char **environment;
    size_t variables;
    void *context; /* CUDA's */
};

static int (*get_context)(void **context);

/* The driver's own answer, where there is one; the library is the plugin's as well. */
static void find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

    if (library)
        *(void **)&get_context = dlsym(library, "cuCtxGetCurrent");
}

static void look(struct surroundings *now)
{
    memset(now, 0, sizeof(*now));
    for (int i = 1; i < NSIG; i++)
        sigaction(i, NULL, &now->actions[i]);
    sigprocmask(SIG_BLOCK, NULL, &now->blocked);
    snprintf(now->locale, sizeof(now->locale), "%s", setlocale(LC_ALL, NULL));
    if (!getcwd(now->folder, sizeof(now->folder)))
        die("there is no current folder");
    now->rounding = fegetround();
    now->traps = fegetexcept();
    now->mask = umask(0);
    umask(now->mask);
    now->environment = environ;
    while (environ[now->variables])
        now->variables++;
    if (get_context)
        get_context(&now->context);
}

static void compare(const struct surroundings *before, const char *call)
{
    struct surroundings now;

    look(&now);
    for (int i = 1; i < NSIG; i++)
        CHECK(now.actions[i].sa_handler == before->actions[i].sa_handler,
              "%s changes the handler of signal %d", call, i);
    for (int i = 1; i < NSIG; i++)
        CHECK(sigismember(&now.blocked, i) == sigismember(&before->blocked, i),
              "%s changes whether signal %d is blocked", call, i);
    CHECK(strcmp(now.locale, before->locale) == 0, "%s changes the locale to %s", call, now.locale);
    CHECK(strcmp(now.folder, before->folder) == 0, "%s changes the folder to %s", call, now.folder);
    CHECK(now.rounding == before->rounding, "%s changes how floats are rounded", call);
    CHECK(now.traps == before->traps, "%s changes which float exceptions trap", call);
    CHECK(now.mask == before->mask, "%s changes the umask", call);
    CHECK(now.environment == before->environment && now.variables == before->variables,
          "%s changes the environment", call);
    CHECK(now.context == before->context, "%s changes the thread's current CUDA context", call);
}

/* ---- Every step ------------------------------------------------------------------------------ */

#define STEP(call)               \
    do {                         \
        call;                    \
        compare(&before, #call); \
    } while (0)

static void handle(int signal)
{
    (void)signal;
}

/* Nothing that a program has by itself, so that restoring a default would show. */
static void set_up(void)
{
    sigset_t set;

    if (!setlocale(LC_ALL, "C.UTF-8"))
        printf("there is no locale C.UTF-8; the one that is there is looked at\n");
    for (int i = 1; i < NSIG; i++)
        signal(i, handle); /* refused for some */
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    fesetround(FE_UPWARD);
    umask(027);
}

static void everything_stays(void)
{
    struct surroundings before;
    struct scene scene;

    signal(SIGALRM, SIG_DFL);
    set_up();
    alarm(60);
    signal(SIGALRM, SIG_DFL); /* the runner's limit on time */
    look(&before);
    STEP(scene_open(&scene, NULL));
    STEP(scene_start(&scene));
    STEP(scene_check(&scene));
    STEP(gantry_list_fill(scene.list, scene.cells, 1, 4, 0)); /* fails */
    STEP(scene_start(&scene));
    STEP(scene_close(&scene));
}

/* ---- The current context (C30) --------------------------------------------------------------- */

static int (*make_context)(void **context, unsigned flags, int device);
static int (*drop_context)(void *context);

/* A program's own context, made on the same device before and beside gantry's. */
static void the_context_stays(void)
{
    struct surroundings before;
    struct scene scene;
    void *own = NULL;

    scene_open(&scene, NULL);
    find_driver();
    if (!get_context)
        skip("nothing here is through CUDA");
    look(&before);
    CHECK(!before.context, "opening left a context current on this thread");
    *(void **)&make_context = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxCreate_v2");
    *(void **)&drop_context = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxDestroy_v2");
    if (make_context && make_context(&own, 0, 0) == 0) {
        look(&before);
        CHECK(before.context == own, "the program's own context is not current");
    }
    STEP(scene_start(&scene));
    STEP(scene_check(&scene));
    STEP(scene_close(&scene));
    STEP(scene_open(&scene, NULL));
    STEP(scene_start(&scene));
    STEP(gantry_list_destroy(&scene.list));
    STEP(gantry_queue_destroy(&scene.other));
    STEP(scene_close(&scene));
    if (own)
        drop_context(own);
}

/* ---- Devices that nobody opened (C30) -------------------------------------------------------- */

static int (*get_state)(int device, unsigned *flags, int *active);

static void expect_active(int count, int opened, const char *when)
{
    for (int i = 0; i < count; i++) {
        unsigned flags;
        int active = 0;

        get_state(i, &flags, &active);
        CHECK(active == (i == opened), "%s, CUDA device %d has %s context", when, i,
              active ? "a" : "no");
    }
}

/* Retained and released in balance, and nowhere else. */
static void unopened_devices_stay(void)
{
    int (*get_count)(int *count), count = 0, own;
    struct scene scene;
    void *library;

    if (!scene_device || sscanf(scene_device, "cuda:%d", &own) != 1)
        skip("nothing here is through CUDA");
    scene_open(&scene, NULL);
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *(void **)&get_count = dlsym(library, "cuDeviceGetCount");
    *(void **)&get_state = dlsym(library, "cuDevicePrimaryCtxGetState");
    CHECK(library && get_count && get_state && get_count(&count) == 0, "the driver tells nothing");
    scene_start(&scene);
    expect_active(count, own, "with a device open");
    scene_check(&scene);
    scene_close(&scene);
    expect_active(count, -1, "with everything closed");
    printf("of %d CUDA devices number %d was opened\n", count, own);
}

/* ---- Signals while waiting ------------------------------------------------------------------- */

static void interrupted(int signal)
{
    (void)signal;
}

/* A timer that interrupts whatever sleeps in a system call: nothing fails for it. */
static void signals_interrupt_nothing(void)
{
    struct sigaction action = {.sa_handler = interrupted}; /* not SA_RESTART */
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec each = {{0, 300000}, {0, 300000}};
    struct scene scene;
    timer_t timer;

    sigaction(SIGUSR1, &action, NULL);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "there is no timer");
    timer_settime(timer, 0, &each, NULL);
    scene_open(&scene, "[policy]\nspin_us = 0\n");
    for (int i = 0; i < 3; i++) {
        enum gantry_status status = GANTRY_TIMEOUT;

        scene_start(&scene);
        while (status == GANTRY_TIMEOUT)
            status = gantry_wait(scene.replayed, 2000000);
        OK(status);
        OK(gantry_wait(scene.streamed, GANTRY_FOREVER));
    }
    scene_close(&scene);
    timer_delete(timer);
}

const struct life_case surroundings_cases[] = {
    {"surroundings/stay", NULL, false, everything_stays},
    {"surroundings/current-context", "C30", false, the_context_stays},
    {"surroundings/unopened-devices-stay", "C30", false, unopened_devices_stay},
    {"surroundings/signals-interrupt-nothing", NULL, false, signals_interrupt_nothing},
    {0},
};
