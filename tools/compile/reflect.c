#include "reflect.h"

#include <stdio.h>
#include <string.h>

#include <spirv_cross/spirv_cross_c.h>
#include <xxhash.h>

/* kernel_glsl.h's names for pointer types. */
#define POINTER_PREFIX "gantry_ptr_"

struct reflection {
    struct unit *unit;
    spvc_compiler compiler;
};

static bool scalar_of(spvc_basetype type, enum gantry_scalar *scalar)
{
    static const struct {
        spvc_basetype type;
        enum gantry_scalar scalar;
    } scalars[] = {
        {SPVC_BASETYPE_STRUCT, GANTRY_SCALAR_POINTER}, {SPVC_BASETYPE_INT8, GANTRY_SCALAR_INT8},
        {SPVC_BASETYPE_UINT8, GANTRY_SCALAR_UINT8},    {SPVC_BASETYPE_INT16, GANTRY_SCALAR_INT16},
        {SPVC_BASETYPE_UINT16, GANTRY_SCALAR_UINT16},  {SPVC_BASETYPE_INT32, GANTRY_SCALAR_INT32},
        {SPVC_BASETYPE_UINT32, GANTRY_SCALAR_UINT32},  {SPVC_BASETYPE_INT64, GANTRY_SCALAR_INT64},
        {SPVC_BASETYPE_UINT64, GANTRY_SCALAR_UINT64},  {SPVC_BASETYPE_FP16, GANTRY_SCALAR_HALF},
        {SPVC_BASETYPE_FP32, GANTRY_SCALAR_FLOAT},     {SPVC_BASETYPE_FP64, GANTRY_SCALAR_DOUBLE},
    };
    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
        if (scalars[i].type == type) {
            *scalar = scalars[i].scalar;
            return true;
        }
    return false;
}

static uint32_t scalar_size(enum gantry_scalar scalar)
{
    static const uint8_t sizes[] = {8, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
    return sizes[scalar];
}

/* The source's words and the compiled struct must tell the same story, or the scanner was wrong. */
static bool agree(const struct reflection *r, const struct field *field, spvc_type_id record,
                  spvc_type type, uint32_t index)
{
    const char *name = spvc_compiler_get_member_name(r->compiler, record, index);
    if (strcmp(name, field->name))
        return false;
    if ((spvc_type_get_num_array_dimensions(type) == 1) != field->array)
        return false;
    if (strcmp(field->type, "PTR"))
        return spvc_type_get_basetype(type) != SPVC_BASETYPE_STRUCT;
    const char *pointer = spvc_compiler_get_name(r->compiler, spvc_type_get_base_type_id(type));
    return !strncmp(pointer, POINTER_PREFIX, strlen(POINTER_PREFIX)) &&
           !strcmp(pointer + strlen(POINTER_PREFIX), field->pointee);
}

static bool reflect_field(const struct reflection *r, struct field *field, spvc_type record,
                          uint32_t index)
{
    spvc_type_id id = spvc_type_get_base_type_id(record);
    spvc_type type =
        spvc_compiler_get_type_handle(r->compiler, spvc_type_get_member_type(record, index));
    unsigned offset = 0;
    size_t size = 0;
    if (!agree(r, field, id, type, index) ||
        !scalar_of(spvc_type_get_basetype(type), &field->scalar) ||
        spvc_compiler_type_struct_member_offset(r->compiler, record, index, &offset) ||
        spvc_compiler_get_declared_struct_member_size(r->compiler, record, index, &size))
        return false;
    field->offset = offset;
    field->size = (uint32_t)size;
    field->components = spvc_type_get_vector_size(type);
    field->count = field->array ? spvc_type_get_array_dimension(type, 0) : 1;
    return true;
}

/* What C, C++ and CUDA make of the same members. Vectors are aligned to their size there. */
static void check_layout(const struct reflection *r, struct record *record)
{
    uint32_t end = 0, widest = 1;
    for (size_t i = 0; i < record->field_count; i++) {
        const struct field *field = &record->fields[i];
        uint32_t align = scalar_size(field->scalar) * field->components;
        uint32_t offset = (end + align - 1) / align * align;
        widest = align > widest ? align : widest;
        end = offset + align * field->count;
        if (offset != field->offset || end != offset + field->size) {
            mistake(r->unit, field->place,
                    "%s.%s is at offset %u in GLSL and at %u in CUDA: put larger members first or "
                    "fill the gap with a member",
                    record->name, field->name, field->offset, offset);
            return;
        }
    }
    uint32_t size = (end + widest - 1) / widest * widest;
    if (record->pointee && (record->size != size || record->align != widest))
        mistake(r->unit, record->place,
                "the size of %s is %u and its alignment %u: write POINTEE(%s, %u, %u)",
                record->name, size, widest, record->name, size, widest);
    record->size = size;
    record->align = widest;
}

static bool reflect_record(const struct reflection *r, struct record *record, spvc_type type);

/* gantry_ptr_T has one member, a reference to a block whose one member is an array of T. */
static bool reflect_pointee(const struct reflection *r, const struct field *field, spvc_type record,
                            uint32_t index)
{
    struct record *pointee = unit_record(r->unit, field->pointee);
    if (!pointee)
        return true;
    if (pointee->is_args || !pointee->pointee) {
        mistake(r->unit, field->place, "PTR(%s) needs a POINTEE(%s, size, alignment) above it",
                field->pointee, field->pointee);
        return true;
    }
    spvc_type pointer =
        spvc_compiler_get_type_handle(r->compiler, spvc_type_get_member_type(record, index));
    spvc_type wrapper =
        spvc_compiler_get_type_handle(r->compiler, spvc_type_get_base_type_id(pointer));
    spvc_type block =
        spvc_compiler_get_type_handle(r->compiler, spvc_type_get_member_type(wrapper, 0));
    spvc_type element =
        spvc_compiler_get_type_handle(r->compiler,
                                      spvc_type_get_base_type_id(spvc_compiler_get_type_handle(
                                          r->compiler, spvc_type_get_member_type(block, 0))));
    return reflect_record(r, pointee, element);
}

static bool reflect_record(const struct reflection *r, struct record *record, spvc_type type)
{
    if (record->reflected)
        return true;
    record->reflected = true;
    bool good = spvc_type_get_num_member_types(type) == record->field_count;
    for (uint32_t i = 0; good && i < record->field_count; i++)
        good = reflect_field(r, &record->fields[i], type, i);
    if (!good) {
        mistake(r->unit, record->place,
                "the members of %s as compiled are not those that its text shows: write them out "
                "without macros",
                record->name);
        return true;
    }
    check_layout(r, record);
    for (uint32_t i = 0; good && i < record->field_count; i++)
        if (!strcmp(record->fields[i].type, "PTR"))
            good = reflect_pointee(r, &record->fields[i], type, i);
    return good;
}

static bool reflect_arguments(const struct reflection *r, const struct kernel *kernel)
{
    spvc_resources resources;
    const spvc_reflected_resource *blocks;
    size_t count = 0;
    if (spvc_compiler_create_shader_resources(r->compiler, &resources) ||
        spvc_resources_get_resource_list_for_type(resources, SPVC_RESOURCE_TYPE_PUSH_CONSTANT,
                                                  &blocks, &count) ||
        count != 1)
        return false;
    spvc_type block = spvc_compiler_get_type_handle(r->compiler, blocks[0].base_type_id);
    spvc_type args =
        spvc_compiler_get_type_handle(r->compiler, spvc_type_get_member_type(block, 0));
    return reflect_record(r, kernel->args, args);
}

bool reflect(struct unit *unit, struct kernel *kernel, const uint32_t *code, size_t words)
{
    spvc_context context = NULL;
    spvc_parsed_ir ir;
    struct reflection r = {.unit = unit};
    bool good = spvc_context_create(&context) == SPVC_SUCCESS &&
                spvc_context_parse_spirv(context, code, words, &ir) == SPVC_SUCCESS &&
                spvc_context_create_compiler(context, SPVC_BACKEND_NONE, ir,
                                             SPVC_CAPTURE_MODE_TAKE_OWNERSHIP,
                                             &r.compiler) == SPVC_SUCCESS &&
                reflect_arguments(&r, kernel);
    if (!good)
        fprintf(stderr, "gantry: compile: spirv-cross can't read kernel %s: %s\n", kernel->name,
                context ? spvc_context_get_last_error_string(context) : "out of memory");
    if (context)
        spvc_context_destroy(context);
    return good;
}

uint32_t pointee_size(const struct unit *unit, const char *pointee)
{
    static const struct {
        const char *name;
        uint32_t size;
    } types[] = {
        {"int8", 1}, {"uint8", 1}, {"int16", 2},   {"uint16", 2}, {"half", 2},   {"int", 4},
        {"uint", 4}, {"float", 4}, {"int64", 8},   {"uint64", 8}, {"double", 8}, {"float2", 8},
        {"int2", 8}, {"uint2", 8}, {"float4", 16}, {"int4", 16},  {"uint4", 16},
    };
    const struct record *record = unit_record(unit, pointee);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcmp(pointee, types[i].name))
            return types[i].size;
    return record ? record->size : 0;
}

uint64_t layout_hash(struct unit *unit, const struct record *record)
{
    struct text text = text_new(unit->pool);
    text_print(&text, "%s\n", record->name);
    for (size_t i = 0; i < record->field_count; i++) {
        const struct field *field = &record->fields[i];
        text_print(&text, "%s %s %u %u %s\n", field->name, gantry_scalar_name(field->scalar),
                   field->offset, field->count, field->pointee);
    }
    text_print(&text, "%u\n", record->size);
    return XXH64(text.data, text.size, 0);
}
