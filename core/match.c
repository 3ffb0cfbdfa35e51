/* Selectors: the texts that say which devices are meant. Names are compared whole: "RTX 4060" is
 * neither the Ti nor the Laptop GPU. */
#include "match.h"

#include <stdio.h>
#include <string.h>

#include "ascii.h"
#include "model.h"

/* A pattern may take a vendor's words as they stand, or leave out any at the front. */
static bool name_matches(const struct selector *selector, const char *device)
{
    char name[MATCH_NAME_SIZE];
    const char *form = name;

    if (!device || !model_normalise(device, name, sizeof(name)))
        return false;
    if (selector->kind == SELECT_NAME)
        return strcmp(selector->text, model_without_vendor(name)) == 0;
    for (; form; form = model_behind_vendor(form)) {
        if (model_glob(selector->text, form))
            return true;
    }
    return false;
}

/* ---- Identities ----------------------------------------------------------------------------- */

static int hex_value(char c)
{
    char lower = ascii_lower(c);

    if (ascii_digit(c))
        return c - '0';
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Reads `least` to `most` hexadecimal digits. */
static bool take_hex(const char **text, unsigned least, unsigned most, uint32_t *number)
{
    unsigned digits = 0;

    *number = 0;
    for (; digits < most && hex_value(**text) >= 0; digits++)
        *number = *number * 16 + (uint32_t)hex_value(*(*text)++);
    return digits >= least;
}

static bool take_char(const char **text, char c)
{
    return **text == c && (*text)++;
}

bool match_read_pci(const char *text, struct match_pci *pci)
{
    const char *colon = strchr(text, ':');

    memset(pci, 0, sizeof(*pci));
    if (colon && strchr(colon + 1, ':') &&
        !(take_hex(&text, 1, 8, &pci->domain) && take_char(&text, ':')))
        return false;
    return take_hex(&text, 1, 2, &pci->bus) && take_char(&text, ':') &&
           take_hex(&text, 1, 2, &pci->device) && take_char(&text, '.') &&
           take_hex(&text, 1, 1, &pci->function) && *text == '\0';
}

static bool same_pci(const struct match_pci *a, const struct match_pci *b)
{
    return a->domain == b->domain && a->bus == b->bus && a->device == b->device &&
           a->function == b->function;
}

bool match_read_uuid(const char *text, char *uuid)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

    if (ascii_starts(text, "gpu-"))
        text += strlen("gpu-");
    if (strlen(text) != strlen(form))
        return false;
    for (size_t i = 0; i <= strlen(form); i++) {
        if (form[i] == 'x' ? hex_value(text[i]) < 0 : text[i] != form[i])
            return false;
        uuid[i] = ascii_lower(text[i]);
    }
    return true;
}

/* ---- Vendors and types ---------------------------------------------------------------------- */

/* As in struct gantry_backend_device_info. */
enum { ARCH_SIZE = 32 };

/* PCI vendors, and Khronos's number for Mesa's software devices. */
static const struct vendor {
    const char *name;
    uint32_t id;
} vendors[] = {
    {"nvidia", 0x10de}, {"amd", 0x1002},      {"intel", 0x8086},       {"apple", 0x106b},
    {"arm", 0x13b5},    {"qualcomm", 0x5143}, {"imagination", 0x1010}, {"mesa", 0x10005},
};

static bool parse_vendor(const char *text, uint32_t *id)
{
    for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++) {
        if (ascii_same(text, vendors[i].name)) {
            *id = vendors[i].id;
            return true;
        }
    }
    if (!ascii_starts(text, "0x"))
        return false;
    text += 2;
    return take_hex(&text, 1, 8, id) && *text == '\0' && *id != 0;
}

static bool parse_type(const char *text, uint32_t *type)
{
    for (int i = GANTRY_DEVICE_OTHER; i <= GANTRY_DEVICE_CPU; i++) {
        if (ascii_same(text, gantry_device_type_name((enum gantry_device_type)i))) {
            *type = (uint32_t)i;
            return true;
        }
    }
    return false;
}

/* ---- Selectors ------------------------------------------------------------------------------ */

static bool parse_name(const char *text, struct selector *selector, char *why, size_t size)
{
    char name[MATCH_NAME_SIZE];
    const char *rest;

    if (!model_normalise(text, name, sizeof(name))) {
        snprintf(why, size, "no device's name can be like that: names have 1 to %d characters",
                 MATCH_NAME_SIZE - 2);
        return false;
    }
    rest = model_without_vendor(name);
    snprintf(selector->text, sizeof(selector->text), "%s", rest);
    selector->kind = strpbrk(rest, "*?") ? SELECT_PATTERN : SELECT_NAME;
    if (strspn(rest, "*? ") == strlen(rest)) {
        snprintf(why, size, "it has nothing but wildcards: [policy] is for every device");
        return false;
    }
    return true;
}

static bool parse_uuid_selector(const char *value, struct selector *selector)
{
    return match_read_uuid(value, selector->text);
}

static bool parse_pci_selector(const char *value, struct selector *selector)
{
    return match_read_pci(value, &selector->pci);
}

static bool parse_arch_selector(const char *value, struct selector *selector)
{
    snprintf(selector->text, sizeof(selector->text), "%s", value);
    ascii_lower_all(selector->text);
    return *value && strlen(value) < ARCH_SIZE && !strpbrk(value, " \t");
}

static bool parse_vendor_selector(const char *value, struct selector *selector)
{
    return parse_vendor(value, &selector->number);
}

static bool parse_type_selector(const char *value, struct selector *selector)
{
    return parse_type(value, &selector->number);
}

static const struct kind {
    const char *prefix;
    enum selector_kind kind;
    bool (*parse)(const char *value, struct selector *selector);
    const char *form; /* what would be right */
} kinds[] = {
    {"uuid:", SELECT_UUID, parse_uuid_selector,
     "write uuid:GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"},
    {"pci:", SELECT_PCI, parse_pci_selector,
     "write pci:DOMAIN:BUS:DEVICE.FUNCTION, as pci:0000:01:00.0"},
    {"arch:", SELECT_ARCH, parse_arch_selector,
     "write arch:sm_89 or the like, with at most 31 characters"},
    {"vendor:", SELECT_VENDOR, parse_vendor_selector,
     "vendors are nvidia, amd, intel, apple, arm, qualcomm, imagination, mesa, or a number as "
     "0x10de"},
    {"type:", SELECT_TYPE, parse_type_selector,
     "types are discrete, integrated, virtual, cpu and other"},
};

static const struct kind *find_kind(const char *text)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (ascii_starts(text, kinds[i].prefix))
            return &kinds[i];
    }
    return NULL;
}

bool selector_has_kind(const char *text)
{
    return find_kind(text) != NULL;
}

/* Whether a word and ':' stand at the front: it was meant as a kind, since names have no ':' there.
 */
static bool looks_like_kind(const char *text)
{
    while (ascii_word(*text))
        text++;
    return *text == ':';
}

static bool parse_kind(const char *text, struct selector *selector, char *why, size_t size)
{
    const struct kind *kind = find_kind(text);

    if (!kind) {
        snprintf(why, size,
                 "selectors begin with uuid:, pci:, arch:, vendor: or type:, or are a name");
        return false;
    }
    selector->kind = kind->kind;
    snprintf(why, size, "%s", kind->form);
    return kind->parse(text + strlen(kind->prefix), selector);
}

bool selector_parse(const char *text, struct selector *selector, char *why, size_t size)
{
    memset(selector, 0, sizeof(*selector));
    if (looks_like_kind(text) ? !parse_kind(text, selector, why, size)
                              : !parse_name(text, selector, why, size))
        return false;
    for (const char *c = selector->text; *c; c++)
        selector->literal += model_wildcard(*c) ? 0 : 1;
    return true;
}

bool selector_matches(const struct selector *selector, const struct policy_subject *subject)
{
    char text[MATCH_NAME_SIZE];
    struct match_pci pci;

    switch (selector->kind) {
    case SELECT_TYPE:
        return subject->type == (enum gantry_device_type)selector->number;
    case SELECT_VENDOR:
        return subject->vendor_id == selector->number;
    case SELECT_ARCH:
        snprintf(text, sizeof(text), "%s", subject->arch ? subject->arch : "");
        ascii_lower_all(text);
        return text[0] && model_glob(selector->text, text);
    case SELECT_PATTERN:
    case SELECT_NAME:
        return name_matches(selector, subject->name);
    case SELECT_PCI:
        return subject->pci && match_read_pci(subject->pci, &pci) && same_pci(&pci, &selector->pci);
    case SELECT_UUID:
        return subject->uuid && match_read_uuid(subject->uuid, text) &&
               strcmp(text, selector->text) == 0;
    }
    return false;
}

bool selector_is_vendor(const struct selector *selector)
{
    uint32_t id;

    return selector->kind == SELECT_NAME && parse_vendor(selector->text, &id);
}

bool selector_same(const struct selector *a, const struct selector *b)
{
    return a->kind == b->kind && a->number == b->number && same_pci(&a->pci, &b->pci) &&
           strcmp(a->text, b->text) == 0;
}

uint32_t selector_rank(const struct selector *selector)
{
    return (((uint32_t)selector->kind + 1) << 16) + selector->literal;
}
