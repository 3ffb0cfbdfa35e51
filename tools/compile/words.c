#include "words.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *word, const void *entry)
{
    return strcmp(word, *(const char *const *)entry);
}

/* In the order of strcmp(). */
static const char *const keywords[] = {
    "alignas",  "alignof",  "and",      "asm",     "auto",    "bitand",    "bitor",  "bool",
    "break",    "case",     "catch",    "char",    "class",   "compl",     "const",  "constexpr",
    "continue", "decltype", "default",  "delete",  "do",      "double",    "else",   "enum",
    "explicit", "export",   "extern",   "false",   "float",   "for",       "friend", "goto",
    "if",       "inline",   "int",      "long",    "mutable", "namespace", "new",    "noexcept",
    "not",      "nullptr",  "operator", "or",      "private", "protected", "public", "register",
    "restrict", "return",   "short",    "signed",  "sizeof",  "static",    "struct", "switch",
    "template", "this",     "throw",    "true",    "try",     "typedef",   "typeid", "typename",
    "union",    "unsigned", "using",    "virtual", "void",    "volatile",  "while",  "xor",
};

bool word_is_keyword(const char *word)
{
    return bsearch(word, keywords, sizeof(keywords) / sizeof(keywords[0]), sizeof(keywords[0]),
                   compare) != NULL;
}

static const struct {
    const char *word, *advice;
} foreign[] = {
    {"auto", "name the type"},
    {"char", "use int8, uint8, int or uint"},
    {"class", "use STRUCT"},
    {"delete", "choose another name: it is a C++ keyword"},
    {"enum", "use const int"},
    {"goto", "GLSL has no goto"},
    {"inline", "use FN"},
    {"long", "use int64 or uint64"},
    {"namespace", "choose another name: it is a C++ keyword"},
    {"new", "choose another name: it is a C++ keyword"},
    {"operator", "choose another name: it is a C++ keyword"},
    {"private", "choose another name: it is a C++ keyword"},
    {"public", "choose another name: it is a C++ keyword"},
    {"restrict", "pointers may always overlap here"},
    {"short", "use int16, uint16 or int"},
    {"signed", "use int"},
    {"sizeof", "GLSL has no sizeof: use a const"},
    {"static", "use FN, SHARED or TABLE"},
    {"struct", "use STRUCT"},
    {"template", "GLSL has no templates: use a macro"},
    {"this", "choose another name: it is a C++ keyword"},
    {"typedef", "use #define"},
    {"union", "use floatBitsToUint() and its like, or CAST"},
    {"unsigned", "use uint"},
    {"volatile", "use BARRIER() and atomics"},
    {"int8_t", "use int8"},
    {"uint8_t", "use uint8"},
    {"int16_t", "use int16"},
    {"uint16_t", "use uint16"},
    {"int32_t", "use int"},
    {"uint32_t", "use uint"},
    {"int64_t", "use int64"},
    {"uint64_t", "use uint64"},
    {"float16_t", "use half"},
    {"float3", "its alignment differs between the compilers: use float4 or three floats"},
    {"int3", "its alignment differs between the compilers: use int4 or three ints"},
    {"uint3", "its alignment differs between the compilers: use uint4 or three uints"},
    {"vec2", "use float2"},
    {"vec3", "use float4 or three floats"},
    {"vec4", "use float4"},
    {"ivec2", "use int2"},
    {"ivec3", "use int4 or three ints"},
    {"ivec4", "use int4"},
    {"uvec2", "use uint2"},
    {"uvec3", "use uint4 or three uints"},
    {"uvec4", "use uint4"},
    {"mat2", "use vectors"},
    {"mat3", "use vectors"},
    {"mat4", "use vectors"},
    {"shared", "use SHARED"},
    {"layout", "use the words of the kernel language"},
    {"uniform", "use ARGS"},
    {"inout", "use INOUT(type)"},
    {"barrier", "use BARRIER()"},
    {"memoryBarrier", "use BARRIER()"},
    {"atomicAdd", "use ATOMIC_ADD"},
    {"atomicCompSwap", "use ATOMIC_CAS"},
    {"atomicCAS", "use ATOMIC_CAS"},
    {"threadIdx", "use THREAD_ID"},
    {"blockIdx", "use BLOCK_ID"},
    {"blockDim", "use BLOCK_SIZE"},
    {"gridDim", "use BLOCK_COUNT"},
    {"warpSize", "use SUBGROUP_SIZE"},
    {"precise", "write fma() where contraction is wanted"},
    {"round", "the compilers round halves differently: use roundEven() or floor(x + 0.5f)"},
    {"rint", "use roundEven()"},
    {"fmod", "use mod(), or x - y * trunc(x / y)"},
    {"rsqrt", "use inversesqrt()"},
    {"atan2", "use atan(y, x)"},
    {"fminf", "use min()"},
    {"fmaxf", "use max()"},
    {"fabs", "use abs()"},
    {"sqrtf", "use sqrt()"},
    {"expf", "use exp()"},
    {"printf", "there is no output from kernels"},
    {"asm", "GLSL has no assembler"},
};

const char *word_advice(const char *word)
{
    if (strncmp(word, "gl_", 3) == 0 || strncmp(word, "__", 2) == 0)
        return "it belongs to one compiler: use the words of the kernel language";
    if (strncmp(word, "gantry_", 7) == 0)
        return "names that begin with gantry_ are kernel.h's own";
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
        if (!strcmp(word, foreign[i].word))
            return foreign[i].advice;
    return NULL;
}
