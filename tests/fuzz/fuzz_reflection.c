/* Fuzz target: the SPIR-V of a kernel, reflected beside the words of its source. Modules that
 * spirv-val refuses are left out: gantry compile has them checked too, and spirv-cross makes no
 * promise about them. */
#include "fuzz.h"

#include <string.h>

#include <spirv-tools/libspirv.h>

#include "tools/compile/reflect.h"
#include "tools/compile/scan.h"
#include "tools/compile/spirv.h"
#include "tools/compile/token.h"
#include "tools/compile/writes.h"

/* What corpus/reflection was made of. */
static const char source[] = "STRUCT(pair) { float a; uint b; };\n"
                             "POINTEE(pair, 8, 4);\n"
                             "ARGS(p) { PTR(pair) from; PTR(float) to; float w[4]; uint n; };\n"
                             "KERNEL(one, p)\n"
                             "{\n"
                             "    uint i = GLOBAL_ID.x;\n"
                             "    if (i < args.n)\n"
                             "        AT(args.to, i) = AT(args.from, i).a * args.w[i & 3u];\n"
                             "}\n";

static bool is_valid(const uint32_t *code, size_t words)
{
    static spv_context context;
    static spv_validator_options options;
    spv_const_binary_t binary = {code, words};

    if (!context) {
        context = spvContextCreate(SPV_ENV_VULKAN_1_2);
        options = spvValidatorOptionsCreate();
        spvValidatorOptionsSetScalarBlockLayout(options, true);
    }
    return spvValidateWithOptions(context, options, &binary, NULL) == SPV_SUCCESS;
}

/* ---- What must hold ------------------------------------------------------------------------- */

static void check_record(const struct record *record)
{
    uint32_t end = 0;

    for (size_t i = 0; i < record->field_count; i++) {
        const struct field *field = &record->fields[i];

        HOLDS(field->count >= 1 && field->components >= 1 && field->components <= 4);
        HOLDS(field->offset >= end && field->size > 0);
        end = field->offset + field->size;
    }
    HOLDS(end <= record->size && record->size - end < 16);
}

/* Reads the module and returns the hash of its arguments; 0 when there were mistakes. */
static uint64_t read_module(const uint32_t *code, size_t words)
{
    struct pool pool = {0};
    struct unit unit = {.pool = &pool, .path = "f.gk", .name = "f"};
    struct kernel *kernel;
    uint64_t hash = 0;

    tokenize(&unit, source, "wrapper.comp");
    scan(&unit);
    HOLDS(unit.mistakes == 0 && unit.kernel_count == 1);
    kernel = unit.kernels[0];
    spirv_read(&unit, kernel, code, words);
    if (reflect(&unit, kernel, code, words) && unit.mistakes == 0) {
        check_record(kernel->args);
        find_writes(&pool, kernel, code, words);
        hash = layout_hash(&unit, kernel->args);
    }
    pool_free(&pool);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t words = size / 4;
    uint32_t *code = calloc(words + 1, sizeof(*code));

    HOLDS(code);
    memcpy(code, data, 4 * words);
    be_quiet();
    if (words > 5 && code[3] < 4096 && is_valid(code, words))
        HOLDS(read_module(code, words) == read_module(code, words));
    free(code);
    return 0;
}
