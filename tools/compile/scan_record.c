#include "scan.h"

#include <string.h>

#include "words.h"

/* Why a member's type can't stand in an argument struct; NULL when it can. */
static const char *unfit_for_args(const char *type)
{
    static const char *const fit[] = {"PTR", "int", "uint", "float", "int64", "uint64", "double"};
    static const char *const small[] = {"int8", "uint8", "int16", "uint16", "half"};
    static const char *const vectors[] = {"float2", "float4", "int2", "int4", "uint2", "uint4"};
    for (size_t i = 0; i < sizeof(fit) / sizeof(fit[0]); i++)
        if (!strcmp(type, fit[i]))
            return NULL;
    for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
        if (!strcmp(type, small[i]))
            return "many devices take nothing under 32 bits as an argument: use int, uint or float";
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        if (!strcmp(type, vectors[i]))
            return "GLSL and CUDA align vectors differently: use scalars or an array of them";
    if (!strcmp(type, "bool"))
        return "its size is the compiler's business: use uint";
    return "GLSL and CUDA pad nested structs differently: spell out its members, or pass a PTR";
}

static bool fits_struct(const char *type)
{
    static const char *const fit[] = {"PTR",    "int8",   "uint8",  "int16", "uint16", "int",
                                      "uint",   "int64",  "uint64", "half",  "float",  "double",
                                      "float2", "float4", "int2",   "int4",  "uint2",  "uint4"};
    for (size_t i = 0; i < sizeof(fit) / sizeof(fit[0]); i++)
        if (!strcmp(type, fit[i]))
            return true;
    return false;
}

static void check_field(struct unit *unit, const struct record *record, const struct field *field)
{
    const char *why = record->is_args ? unfit_for_args(field->type) : NULL;
    if (!record->is_args && !fits_struct(field->type))
        why = "only scalars, vectors, pointers and arrays of them have one layout everywhere";
    if (why)
        mistake(unit, field->place, "%s.%s: a member of type %s is refused: %s", record->name,
                field->name, field->type, why);
    if (word_is_keyword(field->name))
        mistake(unit, field->place, "%s.%s: %s is a keyword of C or C++: choose another name",
                record->name, field->name, field->name);
    for (size_t i = 0; i < record->field_count; i++)
        if (!strcmp(record->fields[i].name, field->name))
            mistake(unit, field->place, "%s has two members named %s", record->name, field->name);
}

/* One declarator, up to the comma or semicolon behind it. */
static size_t scan_declarator(struct unit *unit, struct record *record, struct field field,
                              size_t at)
{
    const struct token *name = &unit->tokens[at];
    field.place = name->place;
    field.name = name->text;
    if (name->kind != TOKEN_WORD) {
        mistake(unit, name->place, "%s: a member's name is expected here, not \"%s\"", record->name,
                name->text);
        return at;
    }
    at++;
    if (token_is(&unit->tokens[at], "[")) {
        field.array = true;
        at = scan_behind(unit, at);
        if (token_is(&unit->tokens[at], "["))
            mistake(unit, field.place, "%s.%s: an array of arrays is refused: use one dimension",
                    record->name, field.name);
    }
    if (field.array && !strcmp(field.type, "PTR") && record->is_args)
        mistake(unit, field.place, "%s.%s: an array of pointers is refused: give each a member",
                record->name, field.name);
    check_field(unit, record, &field);
    record->fields =
        pool_grow(unit->pool, record->fields, record->field_count, sizeof(*record->fields));
    record->fields[record->field_count++] = field;
    return at;
}

static size_t scan_member(struct unit *unit, struct record *record, size_t at)
{
    struct field field = {.type = unit->tokens[at].text, .pointee = ""};
    if (token_is(&unit->tokens[at], "PTR")) {
        const char *pointee = scan_argument(unit, at + 1, &at);
        field.pointee = pointee ? pointee : "";
    } else {
        at++;
    }
    for (;;) {
        size_t behind = scan_declarator(unit, record, field, at);
        if (!token_is(&unit->tokens[behind], ",")) {
            at = behind;
            break;
        }
        at = behind + 1;
    }
    while (unit->tokens[at].kind != TOKEN_END && !token_is(&unit->tokens[at], ";") &&
           !token_is(&unit->tokens[at], "}"))
        at++;
    return token_is(&unit->tokens[at], ";") ? at + 1 : at;
}

size_t scan_fields(struct unit *unit, struct record *record, size_t at)
{
    while (unit->tokens[at].kind != TOKEN_END && !token_is(&unit->tokens[at], "}"))
        at = scan_member(unit, record, at);
    if (record->field_count == 0)
        mistake(unit, record->place, "%s has no members", record->name);
    return at + (unit->tokens[at].kind != TOKEN_END);
}
