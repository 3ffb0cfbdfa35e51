#include "symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define X(type, member, offset, end) \
    _Static_assert(offsetof(type, member) == (offset) && sizeof(type) == (end), #type);
CUDA_LAYOUT_MAP(X)
#undef X

typedef CUresult (*get_version_fn)(int *version);
typedef CUresult (*get_address_fn)(const char *symbol, void **function, int version,
                                   cuuint64_t flags);

struct row {
    const char *base, *library_name;
    int version;
    enum symbol_need need;
    size_t offset; /* of the member in struct symbols */
};

#define X(member, base, pinned, suffix, need, prototype) \
    {#base, #base suffix, pinned, need, offsetof(struct symbols, member)},
static const struct row rows[] = {CUDA_DRIVER_MAP(X)};
#undef X

/* ISO C has no cast from an object pointer to a function pointer; POSIX says that they look alike.
 */
static void store(void *member, void *address)
{
    memcpy(member, &address, sizeof(address));
}

/* An entry that is newer than the driver is not asked for: cuGetProcAddress would answer with the
 * newest one that the driver has, whose prototype may be another. */
static void *find(const struct symbols *symbols, get_address_fn get_address, const struct row *row)
{
    void *address = NULL;

    if (row->version > symbols->version)
        return NULL;
    if (get_address && get_address(row->base, &address, row->version, 0) == CUDA_SUCCESS && address)
        return address;
    return dlsym(symbols->library, row->library_name);
}

static bool read_version(struct symbols *symbols, char *reason, size_t size)
{
    get_version_fn get_version;
    CUresult result = CUDA_SUCCESS;

    store(&get_version, dlsym(symbols->library, "cuDriverGetVersion"));
    if (get_version)
        result = get_version(&symbols->version);
    if (!get_version || result != CUDA_SUCCESS) {
        symbols->version = 0;
        snprintf(reason, size,
                 "libcuda.so.1 does not tell its version: cuDriverGetVersion %s (%d); reinstall "
                 "the driver",
                 get_version ? "failed" : "is missing", (int)result);
        return false;
    }
    if (symbols->version < OLDEST_DRIVER) {
        snprintf(reason, size,
                 "the driver supports CUDA %d.%d, gantry needs %d.%d or later; update the driver",
                 symbols->version / 1000, symbols->version % 1000 / 10, OLDEST_DRIVER / 1000,
                 OLDEST_DRIVER % 1000 / 10);
        return false;
    }
    return true;
}

static bool fill(struct symbols *symbols, char *reason, size_t size)
{
    get_address_fn get_address;

    store(&get_address, dlsym(symbols->library, "cuGetProcAddress"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *address = find(symbols, get_address, &rows[i]);

        if (!address && rows[i].need == NEEDED) {
            snprintf(reason, size,
                     "libcuda.so.1 of CUDA %d.%d has no %s; it is not a complete driver",
                     symbols->version / 1000, symbols->version % 1000 / 10, rows[i].base);
            return false;
        }
        store((char *)symbols + rows[i].offset, address);
    }
    return true;
}

bool symbols_open(struct symbols *symbols, char *reason, size_t size)
{
    memset(symbols, 0, sizeof(*symbols));
    symbols->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!symbols->library) {
        snprintf(reason, size, "there is no usable CUDA driver: %s", dlerror());
        return false;
    }
    if (!read_version(symbols, reason, size) || !fill(symbols, reason, size)) {
        symbols_close(symbols);
        return false;
    }
    return true;
}

void symbols_close(struct symbols *symbols)
{
    if (symbols->library)
        dlclose(symbols->library);
    symbols->library = NULL;
}
