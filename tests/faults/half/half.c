/* A libcuda.so.1 of a driver that was installed by half: it tells its version and has nothing else.
 */
#define EXPORT __attribute__((visibility("default")))

EXPORT int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}
