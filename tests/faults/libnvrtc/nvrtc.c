/* A stand-in for NVIDIA's run-time compiler, found as libnvrtc.so.13 through LD_LIBRARY_PATH. It
 * compiles nothing: its output is the PTX of an empty kernel, which the stand-in driver takes for a
 * cubin too.
 *
 * NVRTC_VERSION  what nvrtcVersion() says, "13.0"
 * NVRTC_ARCHS    the architectures that it knows, "75 80 90"
 * NVRTC_ENTRY    the kernel and the bytes of its parameters, "mark:16"
 * NVRTC_FAIL     the result of compiling, a number; NVRTC_LOG is the log of that
 *
 * Built with WITHOUT_CUBIN it lacks nvrtcGetCUBIN, as before CUDA 11.2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct program {
    char ptx[512];
};

static const char *setting(const char *name, const char *otherwise)
{
    const char *text = getenv(name);

    return text ? text : otherwise;
}

static int list_archs(int *archs)
{
    const char *text = setting("NVRTC_ARCHS", "75 80 90");
    int count = 0;
    char *end;

    for (long arch; (arch = strtol(text, &end, 10)), end != text; text = end, count++)
        if (archs)
            archs[count] = (int)arch;
    return count;
}

EXPORT const char *nvrtcGetErrorString(int result);
const char *nvrtcGetErrorString(int result)
{
    switch (result) {
    case 0:
        return "NVRTC_SUCCESS";
    case 6:
        return "NVRTC_ERROR_COMPILATION";
    case 7:
        return "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    default:
        return "NVRTC_ERROR unknown";
    }
}

EXPORT int nvrtcVersion(int *major, int *minor);
int nvrtcVersion(int *major, int *minor)
{
    return sscanf(setting("NVRTC_VERSION", "13.0"), "%d.%d", major, minor) == 2 ? 0 : 1;
}

EXPORT int nvrtcGetNumSupportedArchs(int *count);
int nvrtcGetNumSupportedArchs(int *count)
{
    *count = list_archs(NULL);
    return 0;
}

EXPORT int nvrtcGetSupportedArchs(int *archs);
int nvrtcGetSupportedArchs(int *archs)
{
    list_archs(archs);
    return 0;
}

EXPORT int nvrtcCreateProgram(struct program **program, const char *source, const char *name,
                              int count, const char *const *headers, const char *const *includes);
int nvrtcCreateProgram(struct program **program, const char *source, const char *name, int count,
                       const char *const *headers, const char *const *includes)
{
    (void)source;
    (void)name;
    (void)count;
    (void)headers;
    (void)includes;
    *program = calloc(1, sizeof(**program));
    return *program ? 0 : 1;
}

EXPORT int nvrtcDestroyProgram(struct program **program);
int nvrtcDestroyProgram(struct program **program)
{
    free(*program);
    *program = NULL;
    return 0;
}

EXPORT int nvrtcCompileProgram(struct program *program, int count, const char *const *options);
int nvrtcCompileProgram(struct program *program, int count, const char *const *options)
{
    const char *arch = count > 0 ? strrchr(options[0], '_') : NULL;
    char name[64] = "mark";
    int bytes = 16;

    sscanf(setting("NVRTC_ENTRY", "mark:16"), "%63[^:]:%d", name, &bytes);
    snprintf(program->ptx, sizeof(program->ptx),
             ".version 7.0\n.target sm_%s\n.address_size 64\n"
             ".visible .entry %s(.param .align 8 .b8 args[%d])\n{\nret;\n}\n",
             arch ? arch + 1 : "75", name, bytes);
    return atoi(setting("NVRTC_FAIL", "0"));
}

EXPORT int nvrtcGetProgramLogSize(struct program *program, size_t *size);
int nvrtcGetProgramLogSize(struct program *program, size_t *size)
{
    (void)program;
    *size = strlen(setting("NVRTC_LOG", "")) + 1;
    return 0;
}

EXPORT int nvrtcGetProgramLog(struct program *program, char *log);
int nvrtcGetProgramLog(struct program *program, char *log)
{
    (void)program;
    strcpy(log, setting("NVRTC_LOG", ""));
    return 0;
}

EXPORT int nvrtcGetPTXSize(struct program *program, size_t *size);
int nvrtcGetPTXSize(struct program *program, size_t *size)
{
    *size = strlen(program->ptx) + 1;
    return 0;
}

EXPORT int nvrtcGetPTX(struct program *program, char *ptx);
int nvrtcGetPTX(struct program *program, char *ptx)
{
    strcpy(ptx, program->ptx);
    return 0;
}

#ifndef WITHOUT_CUBIN
EXPORT int nvrtcGetCUBINSize(struct program *program, size_t *size);
int nvrtcGetCUBINSize(struct program *program, size_t *size)
{
    return nvrtcGetPTXSize(program, size);
}

EXPORT int nvrtcGetCUBIN(struct program *program, char *cubin);
int nvrtcGetCUBIN(struct program *program, char *cubin)
{
    return nvrtcGetPTX(program, cubin);
}
#endif
