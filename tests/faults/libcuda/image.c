/* Kernel images, read as far as a driver's loader shows: cubin (ELF), PTX (text), fatbin (both). */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { DEFAULT_SHARED_LIMIT = 48 << 10, DEFAULT_MAX_THREADS = 1024 };

static struct CUfunc_st *add_function(struct CUmod_st *module, const char *name, size_t length)
{
    struct CUfunc_st *function = calloc(1, sizeof(*function));
    if (!function)
        return NULL;
    function->name = strndup(name, length);
    function->module = module;
    function->max_dynamic_shared = DEFAULT_SHARED_LIMIT;
    function->max_threads = DEFAULT_MAX_THREADS;
    function->next = module->functions;
    module->functions = function;
    return function;
}

void functions_free(struct CUmod_st *module)
{
    while (module->functions) {
        struct CUfunc_st *function = module->functions;
        module->functions = function->next;
        free(function->name);
        free(function);
    }
}

static CUresult refuse(struct CUmod_st *module, int result, const char *reason)
{
    module->refusal = reason;
    return (CUresult)result;
}

/* ---- Cubins ---------------------------------------------------------------------------------- */

enum {
    ABI_CUDA_13 = 8, /* since then drivers before 13.0 refuse the file, and the flags moved */
    ATTRIBUTE_HAS_VALUE = 3,
    ATTRIBUTE_HAS_DATA = 4,
    ATTRIBUTE_PARAM_SIZE = 0x19,
    RESERVED_SHARED_BYTES = 1024,
    INSTRUCTION_BYTES = 16,
    OPCODE_MASK = 0xfff,
    OPCODE_ACQBULK = 0x82e, /* griddepcontrol.wait */
};

struct cubin {
    const unsigned char *data;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const char *names;
};

static const Elf64_Shdr *find_section(const struct cubin *cubin, const char *prefix,
                                      const char *name)
{
    char wanted[512];
    snprintf(wanted, sizeof(wanted), "%s%s", prefix, name);
    for (int i = 0; i < cubin->header->e_shnum; i++)
        if (strcmp(cubin->names + cubin->sections[i].sh_name, wanted) == 0)
            return &cubin->sections[i];
    return NULL;
}

static bool code_waits(const unsigned char *code, size_t size)
{
    for (size_t i = 0; i + INSTRUCTION_BYTES <= size; i += INSTRUCTION_BYTES) {
        uint16_t word;
        memcpy(&word, code + i, sizeof(word));
        if ((word & OPCODE_MASK) == OPCODE_ACQBULK)
            return true;
    }
    return false;
}

/* Attributes are (format, number, 16-bit value or size); those with a size are followed by data. */
static size_t read_param_size(const unsigned char *at, size_t size)
{
    const unsigned char *end = at + size;
    while (at + 4 <= end) {
        uint16_t value;
        memcpy(&value, at + 2, sizeof(value));
        if (at[0] == ATTRIBUTE_HAS_VALUE && at[1] == ATTRIBUTE_PARAM_SIZE)
            return value;
        at += at[0] == ATTRIBUTE_HAS_DATA ? 4 + (size_t)value : 4;
    }
    return 0;
}

static void read_kernel(const struct cubin *cubin, const Elf64_Shdr *text, const char *name,
                        int arch, struct CUmod_st *module)
{
    struct CUfunc_st *function = add_function(module, name, strlen(name));
    const Elf64_Shdr *info = find_section(cubin, ".nv.info.", name);
    const Elf64_Shdr *shared = find_section(cubin, ".nv.shared.", name);
    if (!function)
        return;
    function->waits = code_waits(cubin->data + text->sh_offset, text->sh_size);
    if (info)
        function->args_size = read_param_size(cubin->data + info->sh_offset, info->sh_size);
    if (shared)
        function->static_shared = (int)shared->sh_size;
    if (arch >= 80 && function->static_shared >= RESERVED_SHARED_BYTES)
        function->static_shared -= RESERVED_SHARED_BYTES;
}

static CUresult read_cubin(const void *data, const struct device *device, struct CUmod_st *module)
{
    static const char text[] = ".text.";
    struct cubin cubin = {.data = data, .header = data};
    cubin.sections = (const void *)(cubin.data + cubin.header->e_shoff);
    cubin.names = (const char *)cubin.data + cubin.sections[cubin.header->e_shstrndx].sh_offset;
    bool new_abi = cubin.header->e_ident[EI_ABIVERSION] >= ABI_CUDA_13;
    int arch = (int)(new_abi ? cubin.header->e_flags >> 8 : cubin.header->e_flags) & 0xff;
    if (cubin.header->e_machine != EM_CUDA)
        return refuse(module, CUDA_ERROR_INVALID_IMAGE, "the ELF file is not for CUDA");
    if (new_abi && settings()->driver < 13000)
        return refuse(module, CUDA_ERROR_INVALID_IMAGE, "the cubin is newer than the driver");
    if (arch / 10 != device->arch / 10 || arch > device->arch)
        return refuse(module, STANDIN_NO_BINARY_FOR_GPU, "the cubin is for another architecture");
    for (int i = 0; i < cubin.header->e_shnum; i++) {
        const char *name = cubin.names + cubin.sections[i].sh_name;
        if (strncmp(name, text, sizeof(text) - 1) == 0)
            read_kernel(&cubin, &cubin.sections[i], name + sizeof(text) - 1, arch, module);
    }
    return CUDA_SUCCESS;
}

/* ---- PTX ------------------------------------------------------------------------------------- */

/* The PTX that a driver of that CUDA version reads. */
static int newest_ptx(int driver)
{
    static const struct {
        int driver, ptx;
    } known[] = {
        {13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85}, {12040, 84},
        {12030, 83}, {12020, 82}, {12010, 81}, {12000, 80}, {11080, 78}, {11070, 77},
        {11060, 76}, {11050, 75}, {11040, 74}, {11030, 73}, {11020, 72}, {11010, 71},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (driver >= known[i].driver)
            return known[i].ptx;
    return 70;
}

/* Adds up the declarations in a state space, as ".param .align 8 .b8 args[24]" or ".param .u64 y";
 * instructions such as "ld.param.u64" are none. */
static size_t declared_bytes(const char *from, const char *to, const char *space)
{
    size_t sum = 0, length = strlen(space);
    for (const char *at = strstr(from, space); at && at < to; at = strstr(at + length, space)) {
        unsigned alignment, bits, count = 1;
        char type, name[256];
        int skipped = 0;
        if (!strchr(" \t\n(,", at[-1]))
            continue;
        sscanf(at + length, " .align %u%n", &alignment, &skipped);
        if (sscanf(at + length + skipped, " .%c%u %255[^[,;)\n ][%u]", &type, &bits, name, &count) <
            3)
            continue;
        size_t bytes = bits / 8;
        sum = (sum + bytes - 1) / bytes * bytes + bytes * count;
    }
    return sum;
}

static const char *body_end(const char *at)
{
    int open = 0;
    for (; *at; at++) {
        open += *at == '{';
        open -= *at == '}';
        if (*at == '}' && open == 0)
            break;
    }
    return at;
}

static const char *read_entry(const char *at, struct CUmod_st *module)
{
    while (isspace((unsigned char)*at))
        at++;
    size_t length = strcspn(at, "( \n\t");
    struct CUfunc_st *function = add_function(module, at, length);
    const char *body = strchr(at, '{'), *end = body ? body_end(body) : NULL;
    if (!function || !end)
        return NULL;
    const char *wait = strstr(body, "griddepcontrol.wait"), *most = strstr(at, ".maxntid");
    function->waits = wait && wait < end;
    function->args_size = declared_bytes(at, body, ".param");
    function->static_shared = (int)declared_bytes(body, end, ".shared");
    if (most && most < body)
        function->max_threads = atoi(most + strlen(".maxntid"));
    return end;
}

static CUresult read_ptx(const char *text, const struct device *device, struct CUmod_st *module)
{
    const char *version = strstr(text, ".version"), *target = strstr(text, ".target");
    int major, minor, arch;
    if (!version || sscanf(version, ".version %d.%d", &major, &minor) != 2 || !target ||
        sscanf(target, ".target sm_%d", &arch) != 1)
        return refuse(module, STANDIN_INVALID_PTX, "this is neither PTX nor another known image");
    if (major * 10 + minor > newest_ptx(settings()->driver))
        return refuse(module, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                      "the PTX is newer than the driver reads");
    if (arch > device->arch)
        return refuse(module, STANDIN_NO_BINARY_FOR_GPU, "the PTX is for a newer architecture");
    static const char entry[] = ".entry";
    for (const char *at = strstr(text, entry); at; at = strstr(at, entry)) {
        at = read_entry(at + sizeof(entry) - 1, module);
        if (!at)
            return refuse(module, STANDIN_INVALID_PTX, "a kernel does not end");
    }
    return CUDA_SUCCESS;
}

/* ---- Fatbins --------------------------------------------------------------------------------- */

struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
};

struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t compressed_size, options_offset;
    uint16_t minor, major;
    uint32_t arch;
};

enum { FATBIN_MAGIC = (int)0xba55ed50, FATBIN_PTX = 1, FATBIN_CUBIN = 2 };

static CUresult read_fatbin_entry(const unsigned char *at, const struct fatbin_entry *entry,
                                  const struct device *device, struct CUmod_st *module)
{
    const void *image = at + entry->header_size;
    if (entry->compressed_size)
        return refuse(module, CUDA_ERROR_INVALID_IMAGE, "the image in the fatbin is compressed");
    if (entry->kind == FATBIN_CUBIN)
        return read_cubin(image, device, module);
    char *text = strndup(image, entry->size);
    CUresult result = text ? read_ptx(text, device, module) : CUDA_ERROR_OUT_OF_MEMORY;
    free(text);
    return result;
}

/* Code before PTX. */
static CUresult read_fatbin(const unsigned char *data, const struct device *device,
                            struct CUmod_st *module)
{
    struct fatbin_header header;
    CUresult result = refuse(module, STANDIN_NO_BINARY_FOR_GPU, "the fatbin is empty");
    memcpy(&header, data, sizeof(header));
    for (int kind = FATBIN_CUBIN; kind >= FATBIN_PTX; kind--) {
        const unsigned char *at = data + header.header_size, *end = at + header.size;
        struct fatbin_entry entry;
        for (; at + sizeof(entry) <= end; at += entry.header_size + entry.size) {
            memcpy(&entry, at, sizeof(entry));
            if (entry.kind == kind)
                result = read_fatbin_entry(at, &entry, device, module);
            if (entry.kind == kind && result == CUDA_SUCCESS)
                return CUDA_SUCCESS;
        }
    }
    return result;
}

/* ---- All ------------------------------------------------------------------------------------- */

CUresult image_read(const void *data, const struct device *device, struct CUmod_st *module)
{
    uint32_t magic;
    memcpy(&magic, data, sizeof(magic));
    if (memcmp(data, ELFMAG, SELFMAG) == 0)
        return read_cubin(data, device, module);
    if (magic == (uint32_t)FATBIN_MAGIC)
        return read_fatbin(data, device, module);
    return read_ptx(data, device, module);
}
