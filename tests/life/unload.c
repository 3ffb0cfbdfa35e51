/* A program loads a plug-in that uses gantry, and unloads it, again and again.
 *
 *     unload GUEST LIBRARY DEVICE [leave]
 *
 * With `leave` the guest goes with everything open, as badly written ones do. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 10 };

struct guest {
    void *library;
    void (*work)(const char *device);
    void (*leave_open)(const char *device);
};

static void fail(const char *what)
{
    printf("%s\n", what);
    exit(1);
}

static void load(const char *path, struct guest *guest)
{
    guest->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!guest->library)
        fail(dlerror());
    *(void **)&guest->work = dlsym(guest->library, "guest_work");
    *(void **)&guest->leave_open = dlsym(guest->library, "guest_leave_open");
    if (!guest->work || !guest->leave_open)
        fail("the guest has no work");
}

/* Nothing that is gone may be called when the process forks. */
static void fork_once(void)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("a child of the program that unloaded the library did not end well");
}

static const char *device;

/* On a thread that ends after the library has gone. */
static void *visit(void *path)
{
    struct guest guest;

    load(path, &guest);
    guest.work(device);
    dlclose(guest.library);
    return NULL;
}

int main(int argc, char **argv)
{
    struct guest guest;
    pthread_t thread;

    if (argc < 4)
        fail("usage: unload GUEST LIBRARY DEVICE [leave]");
    device = argv[3];
    for (int i = 0; i < ROUNDS; i++) {
        load(argv[1], &guest);
        guest.work(device);
        dlclose(guest.library);
        if (dlopen(argv[2], RTLD_NOW | RTLD_NOLOAD))
            fail("the library is still loaded");
        fork_once();
    }
    if (pthread_create(&thread, NULL, visit, argv[1]) || pthread_join(thread, NULL))
        fail("there is no thread");
    fork_once();
    if (argc > 4 && strcmp(argv[4], "leave") == 0) {
        load(argv[1], &guest);
        guest.leave_open(device);
        dlclose(guest.library);
        fork_once();
    }
    printf("unloaded %d times\n", ROUNDS + 1);
    return 0;
}
