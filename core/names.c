/* The texts of the public enums, and of the version. */
#include <gantry/gantry.h>

#define TEXT(x)         #x
#define DOTTED(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *gantry_version(void)
{
    return DOTTED(GANTRY_VERSION_MAJOR, GANTRY_VERSION_MINOR, GANTRY_VERSION_PATCH);
}

const char *gantry_device_type_name(enum gantry_device_type type)
{
    switch (type) {
    case GANTRY_DEVICE_OTHER:
        return "other";
    case GANTRY_DEVICE_INTEGRATED:
        return "integrated";
    case GANTRY_DEVICE_DISCRETE:
        return "discrete";
    case GANTRY_DEVICE_VIRTUAL:
        return "virtual";
    case GANTRY_DEVICE_CPU:
        return "cpu";
    }
    return "unknown";
}

const char *gantry_scalar_name(enum gantry_scalar type)
{
    switch (type) {
    case GANTRY_SCALAR_POINTER:
        return "pointer";
    case GANTRY_SCALAR_INT8:
        return "int8";
    case GANTRY_SCALAR_UINT8:
        return "uint8";
    case GANTRY_SCALAR_INT16:
        return "int16";
    case GANTRY_SCALAR_UINT16:
        return "uint16";
    case GANTRY_SCALAR_INT32:
        return "int32";
    case GANTRY_SCALAR_UINT32:
        return "uint32";
    case GANTRY_SCALAR_INT64:
        return "int64";
    case GANTRY_SCALAR_UINT64:
        return "uint64";
    case GANTRY_SCALAR_HALF:
        return "half";
    case GANTRY_SCALAR_FLOAT:
        return "float";
    case GANTRY_SCALAR_DOUBLE:
        return "double";
    }
    return "unknown";
}

const char *gantry_image_kind_name(enum gantry_image_kind kind)
{
    switch (kind) {
    case GANTRY_IMAGE_SPIRV:
        return "spirv";
    case GANTRY_IMAGE_CUBIN:
        return "cubin";
    case GANTRY_IMAGE_FATBIN:
        return "fatbin";
    case GANTRY_IMAGE_PTX:
        return "ptx";
    case GANTRY_IMAGE_SOURCE:
        return "source";
    case GANTRY_IMAGE_HOST:
        return "host";
    }
    return "unknown";
}

const char *gantry_attempt_name(enum gantry_attempt_outcome outcome)
{
    switch (outcome) {
#define X(name, value, text)    \
    case GANTRY_ATTEMPT_##name: \
        return #name;
        GANTRY_ATTEMPT_MAP(X)
#undef X
    }
    return "unknown";
}
