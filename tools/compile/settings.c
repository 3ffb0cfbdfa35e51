#include "settings.h"

#include <ctype.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../tool.h"
#include "file.h"
#include "process.h"

enum {
    OPTION_HEADER = 256,
    OPTION_PREFIX,
    OPTION_EMBED,
    OPTION_TARGETS,
    OPTION_ARCHS,
    OPTION_HOST_SO,
    OPTION_DEPFILE,
    OPTION_KEEP,
    OPTION_VERBOSE,
    OPTION_HELP,
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"header", required_argument, NULL, OPTION_HEADER},
    {"prefix", required_argument, NULL, OPTION_PREFIX},
    {"embed", no_argument, NULL, OPTION_EMBED},
    {"targets", required_argument, NULL, OPTION_TARGETS},
    {"cuda-archs", required_argument, NULL, OPTION_ARCHS},
    {"host-so", required_argument, NULL, OPTION_HOST_SO},
    {"depfile", required_argument, NULL, OPTION_DEPFILE},
    {"keep", required_argument, NULL, OPTION_KEEP},
    {"verbose", no_argument, NULL, OPTION_VERBOSE},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: gantry compile FILE.gk -o PACKAGE.gpk [OPTION…]\n"
    "\n"
    "Makes a kernel package, and the C header for its users, from a kernel source.\n"
    "\n"
    "  -o, --output FILE    the package\n"
    "  --header FILE        the C header\n"
    "  --prefix TEXT        begin the header's C names with it; kernels keep their names\n"
    "  --embed              put the package's bytes into the header too\n"
    "  --targets LIST       images to make: spirv, cuda, source, host (default: spirv, source, "
    "and\n"
    "                       cuda where there is nvcc)\n"
    "  --cuda-archs LIST    as \"90 75-ptx\": cubins, PTX; or all\n"
    "  --host-so FILE       also write the host image there\n"
    "  -I DIR               look for included files there\n"
    "  -D NAME[=TEXT]       define a macro\n"
    "  --depfile FILE       write a make rule with every file that was read\n"
    "  --keep DIR           leave the intermediate files there\n"
    "  --verbose            show the commands that are run\n"
    "\n"
    "The environment variables GLSLC, SPIRV_OPT, SPIRV_VAL, NVCC, PTXAS and CXX name other "
    "tools.\n";

__attribute__((format(printf, 1, 2))) static int complain(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("gantry: compile: ", stderr);
    vfprintf(stderr, format, list);
    fputs(" (see gantry compile --help)\n", stderr);
    va_end(list);
    return TOOL_USAGE;
}

static int read_targets(struct settings *settings, const char *list)
{
    const struct {
        const char *name;
        bool *flag;
    } targets[] = {{"spirv", &settings->spirv},
                   {"cuda", &settings->cuda},
                   {"source", &settings->source},
                   {"host", &settings->host}};
    enum { COUNT = sizeof(targets) / sizeof(targets[0]) };
    settings->targets_given = true;
    while (*(list += strspn(list, ", "))) {
        size_t size = strcspn(list, ", "), i = 0;
        while (i < COUNT &&
               (strlen(targets[i].name) != size || strncmp(targets[i].name, list, size) != 0))
            i++;
        if (i == COUNT)
            return complain("unknown target in \"%s\": there are spirv, cuda, source and host",
                            list);
        *targets[i].flag = true;
        list += size;
    }
    return TOOL_DONE;
}

static void append(struct pool *pool, const char ***list, size_t *count, const char *value)
{
    *list = pool_grow(pool, *list, *count, sizeof(**list));
    (*list)[(*count)++] = value;
}

static int read_option(struct settings *settings, struct pool *pool, int option)
{
    switch (option) {
    case 'o':
        settings->output = optarg;
        return TOOL_DONE;
    case 'I':
        append(pool, &settings->folders, &settings->folder_count, optarg);
        return TOOL_DONE;
    case 'D':
        append(pool, &settings->defines, &settings->define_count, optarg);
        return TOOL_DONE;
    case OPTION_HEADER:
        settings->header = optarg;
        return TOOL_DONE;
    case OPTION_PREFIX:
        settings->prefix = optarg;
        return TOOL_DONE;
    case OPTION_EMBED:
        settings->embed = true;
        return TOOL_DONE;
    case OPTION_TARGETS:
        return read_targets(settings, optarg);
    case OPTION_ARCHS:
        settings->archs = optarg;
        return TOOL_DONE;
    case OPTION_HOST_SO:
        settings->host_so = optarg;
        return TOOL_DONE;
    case OPTION_DEPFILE:
        settings->depfile = optarg;
        return TOOL_DONE;
    case OPTION_KEEP:
        settings->keep = optarg;
        return TOOL_DONE;
    case OPTION_VERBOSE:
        command_verbose = true;
        return TOOL_DONE;
    case OPTION_HELP:
        fputs(usage, stdout);
        return -1;
    default:
        return TOOL_USAGE;
    }
}

/* ---- Tools and folders ---------------------------------------------------------------------- */

/* The environment's choice, else the one that configure found; NULL where neither names one. */
static const char *tool(const char *variable, const char *found)
{
    const char *chosen = getenv(variable);
    if (!chosen || !*chosen)
        chosen = found;
    return *chosen ? chosen : NULL;
}

static void find_tools(struct settings *settings)
{
    settings->glslc = tool("GLSLC", GANTRY_GLSLC);
    settings->spirv_opt = tool("SPIRV_OPT", GANTRY_SPIRV_OPT);
    settings->spirv_val = tool("SPIRV_VAL", GANTRY_SPIRV_VAL);
    settings->nvcc = tool("NVCC", GANTRY_NVCC);
    settings->ptxas = tool("PTXAS", GANTRY_PTXAS);
    settings->cxx = tool("CXX", GANTRY_CXX);
}

/* The folder that holds gantry/kernel.h: one of the -I, or beside the program, or the installed
 * one. */
static int find_language(struct settings *settings, struct pool *pool)
{
    char program[4096];
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
    for (size_t i = 0; i < settings->folder_count; i++)
        if (file_exists(pool_print(pool, "%s/gantry/kernel.h", settings->folders[i])))
            return TOOL_DONE;
    program[size > 0 ? size : 0] = 0;
    const char *beside = pool_print(pool, "%s/../include", path_folder(pool, program));
    const char *places[] = {beside, GANTRY_INCLUDEDIR};
    for (size_t i = 0; i < 2; i++)
        if (file_exists(pool_print(pool, "%s/gantry/kernel.h", places[i]))) {
            append(pool, &settings->folders, &settings->folder_count, places[i]);
            return TOOL_DONE;
        }
    fprintf(
        stderr,
        "gantry: compile: gantry/kernel.h is neither in a folder named by -I, nor in %s, nor in "
        "%s (name its folder with -I)\n",
        places[0], places[1]);
    return TOOL_FAILED;
}

static int check_tools(const struct settings *settings)
{
    const struct {
        bool needed;
        const char *path, *name, *variable, *what;
    } tools[] = {
        {true, settings->glslc, "glslc", "GLSLC", "reading kernels"},
        {settings->spirv, settings->spirv_opt, "spirv-opt", "SPIRV_OPT",
         "optimising SPIR-V images"},
        {settings->spirv, settings->spirv_val, "spirv-val", "SPIRV_VAL", "checking SPIR-V images"},
        {settings->cuda, settings->nvcc, "nvcc", "NVCC", "CUDA images"},
        {settings->cuda, settings->ptxas, "ptxas", "PTXAS", "CUDA images"},
        {settings->host, settings->cxx, "a C++ compiler", "CXX", "host images"},
    };
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
        if (tools[i].needed && !tools[i].path) {
            fprintf(stderr, "gantry: compile: %s needs %s, and none is known (set %s)\n",
                    tools[i].what, tools[i].name, tools[i].variable);
            return TOOL_FAILED;
        }
    return TOOL_DONE;
}

static bool is_prefix(const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c != '_' && !isalpha((unsigned char)*c) && (c == text || !isdigit((unsigned char)*c)))
            return false;
    return true;
}

static int complete(struct settings *settings, struct pool *pool)
{
    if (!settings->input)
        return complain("no kernel source is named");
    if (!settings->output)
        return complain("%s: no package is named with -o", settings->input);
    if (settings->embed && !settings->header)
        return complain("--embed needs --header");
    if (!is_prefix(settings->prefix))
        return complain("--prefix %s: C names are made of letters, digits and _", settings->prefix);
    find_tools(settings);
    if (!settings->targets_given) {
        settings->spirv = settings->source = true;
        settings->cuda = settings->nvcc && settings->ptxas;
    }
    settings->host = settings->host || settings->host_so;
    if (!settings->archs)
        settings->archs = GANTRY_CUDA_ARCHS;
    int status = check_tools(settings);
    if (status == TOOL_DONE)
        status = find_language(settings, pool);
    return status == TOOL_DONE && !architectures_read(settings, pool) ? TOOL_FAILED : status;
}

int settings_read(struct settings *settings, struct pool *pool, int argc, char **argv)
{
    int option;
    optind = 0;
    settings->prefix = "";
    while ((option = getopt_long(argc, argv, "o:I:D:", long_options, NULL)) != -1) {
        int status = read_option(settings, pool, option);
        if (status != TOOL_DONE)
            return status;
    }
    if (optind < argc)
        settings->input = argv[optind++];
    if (optind < argc)
        return complain("\"%s\" is one kernel source too many", argv[optind]);
    return complete(settings, pool);
}
