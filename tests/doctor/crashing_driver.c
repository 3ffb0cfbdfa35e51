/* A libcuda.so.1 that takes its process with it when it is started. */
#include <signal.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuInit(unsigned flags);

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cuInit(unsigned flags)
{
    (void)flags;
    signal(SIGSEGV, SIG_DFL); /* sanitizers would answer it themselves */
    return raise(SIGSEGV);
}
