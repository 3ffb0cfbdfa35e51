/* Threads that come early, stay long or leave late. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "life.h"

static sem_t go;

/* ---- A thread that was there before, and calls after ----------------------------------------- */

static void *call_late(void *context)
{
    struct gantry *g;

    (void)context;
    while (sem_wait(&go))
        ;
    CHECK(gantry_last_error()[0] == '\0', "a thread that never called has the sentence \"%s\"",
          gantry_last_error());
    CHECK(gantry_poll((struct gantry_point){0}) == GANTRY_OK, "the point of nothing is not there");
    CHECK(gantry_open(NULL, NULL) == GANTRY_E_INVALID_ARGUMENT && gantry_last_error()[0],
          "a mistake left no sentence");
    OK(gantry_open(NULL, &g));
    gantry_close(&g);
    scene_whole();
    return NULL; /* with the sentence of its mistake */
}

static void early_thread_calls_late(void)
{
    pthread_t thread;

    CHECK(sem_init(&go, 0, 0) == 0 && pthread_create(&thread, NULL, call_late, NULL) == 0,
          "no thread could be started");
    scene_whole();
    sem_post(&go);
    pthread_join(thread, NULL);
    scene_whole();
}

/* ---- Made by one thread, closed by another --------------------------------------------------- */

static void *open_here(void *scene)
{
    scene_open(scene, NULL);
    scene_start(scene);
    return NULL;
}

static void *close_here(void *scene)
{
    scene_check(scene);
    scene_close(scene);
    return NULL;
}

static void on_a_thread(void *(*work)(void *), void *context)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, work, context) == 0, "no thread could be started");
    pthread_join(thread, NULL);
}

static void other_thread_closes(void)
{
    static struct scene scene;

    on_a_thread(open_here, &scene); /* which has ended when the work is looked at */
    on_a_thread(close_here, &scene);
}

/* ---- A thread that leaves while others work -------------------------------------------------- */

static void *make_a_mistake(void *context)
{
    (void)context;
    CHECK(gantry_list_finish(NULL) == GANTRY_E_INVALID_ARGUMENT, "a NULL list was finished");
    return (void *)gantry_last_error(); /* not to be read any more */
}

static void threads_leave_their_sentences(void)
{
    struct scene scene;

    scene_open(&scene, NULL);
    scene_start(&scene);
    for (int i = 0; i < 500; i++)
        on_a_thread(make_a_mistake, NULL);
    scene_check(&scene);
    scene_close(&scene);
}

/* The program's main thread leaves first; the process ends with the last one. */
static pthread_t main_thread;

static void *outlive_main(void *context)
{
    (void)context;
    pthread_join(main_thread, NULL);
    scene_whole();
    return NULL;
}

static void main_thread_leaves(void)
{
    pthread_t thread;

    main_thread = pthread_self();
    scene_whole();
    CHECK(pthread_create(&thread, NULL, outlive_main, NULL) == 0, "no thread could be started");
    pthread_exit(NULL);
}

const struct life_case thread_cases[] = {
    {"threads/early-thread-calls-late", NULL, false, early_thread_calls_late},
    {"threads/other-thread-closes", NULL, false, other_thread_closes},
    {"threads/leave-their-sentences", NULL, false, threads_leave_their_sentences},
    {"threads/main-thread-leaves", NULL, false, main_thread_leaves},
    {0},
};
