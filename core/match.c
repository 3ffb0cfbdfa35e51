/* Selectors: the texts that say which devices are meant.
 *
 * One GPU has many names: "NVIDIA GeForce RTX 4060", "GeForce RTX 4060", "NVIDIA GeForce RTX 4060
 * (NVK AD107)"; "AMD Radeon(TM) 8060S Graphics (RADV GFX1151)", "AMD Radeon 8060S". So names and
 * patterns are normalised before they are compared whole: "RTX 4060" is neither the Ti nor the
 * Laptop GPU. */
#include "match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascii.h"

/* ---- Names ---------------------------------------------------------------------------------- */

/* Words that drivers put in front of a model, or leave out. GeForce is one because its models are
 * unmistakable without it; Radeon, Quadro, Tesla and Arc are not, because others share their
 * numbers. */
static const char *const vendor_words[] = {"nvidia", "geforce",   "amd",         "ati",
                                           "intel",  "apple",     "arm",         "qualcomm",
                                           "mesa",   "microsoft", "corporation", "imagination"};

/* Marks that stand for nothing. */
static const char *const marks[] = {"(r)", "(tm)", "(c)", "®", "™"};

static size_t mark_length(const char *text)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (ascii_starts(text, marks[i]))
            return strlen(marks[i]);
    }
    return 0;
}

/* Where the parenthesis opens that ends the text; NULL when none does, or it is all there is. */
static char *last_parenthesis(char *text)
{
    size_t i = strlen(text);
    int depth = 0;

    if (i == 0 || text[i - 1] != ')')
        return NULL;
    while (i-- > 1) {
        depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
        if (depth == 0)
            return text + i;
    }
    return NULL;
}

static void drop_last_word(char *text, const char *word)
{
    size_t length = strlen(text), size = strlen(word);

    if (length > size + 1 && text[length - size - 1] == ' ' &&
        strcmp(text + length - size, word) == 0)
        text[length - size - 1] = '\0';
}

/* Lower case, single blanks, no marks, no driver in parentheses and no "Graphics" at the end. */
static bool normalise(const char *name, char *text, size_t size)
{
    size_t length = 0;
    char *driver;

    while (*name) {
        size_t skipped = mark_length(name);
        bool blank = skipped || ascii_blank(*name);

        if (length + 1 >= size)
            return false;
        if (!blank)
            text[length++] = ascii_lower(*name);
        else if (length > 0 && text[length - 1] != ' ')
            text[length++] = ' ';
        name += skipped ? skipped : 1;
    }
    text[length] = '\0';
    ascii_trim(text);
    driver = last_parenthesis(text);
    if (driver)
        *driver = '\0';
    ascii_trim(text);
    drop_last_word(text, "graphics");
    return text[0] != '\0';
}

/* What stands behind a vendor's word at the front; NULL when none does or nothing is left. */
static const char *behind_vendor(const char *text)
{
    for (size_t i = 0; i < sizeof(vendor_words) / sizeof(vendor_words[0]); i++) {
        size_t length = strlen(vendor_words[i]);

        if (strncmp(text, vendor_words[i], length) == 0 && text[length] == ' ')
            return text + length + 1;
    }
    return NULL;
}

static bool wildcard(char c)
{
    return c == '*' || c == '?';
}

/* Vendor words at the front say nothing, unless only wildcards stand behind them: "NVIDIA *". */
static const char *without_vendor(const char *text)
{
    const char *rest;

    while ((rest = behind_vendor(text)) && !wildcard(*rest))
        text = rest;
    return text;
}

/* Whether the text is the pattern's, whole. On a mismatch the last '*' takes one character more. */
static bool glob(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* A pattern may take the vendor's words as they stand in the name, or leave any at the front out.
 */
static bool name_matches(const struct selector *selector, const char *device)
{
    char name[MATCH_NAME_SIZE];
    const char *form = name;

    if (!device || !normalise(device, name, sizeof(name)))
        return false;
    if (selector->kind == SELECT_NAME)
        return strcmp(selector->text, without_vendor(name)) == 0;
    for (; form; form = behind_vendor(form)) {
        if (glob(selector->text, form))
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

/* "0000:01:00.0", with a domain of up to eight digits or none. */
static bool parse_pci(const char *text, struct match_pci *pci)
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

/* 8-4-4-4-12 hexadecimal digits, with "GPU-" in front or without, to lower case and without. */
static bool parse_uuid(const char *text, char *uuid)
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

    if (!normalise(text, name, sizeof(name))) {
        snprintf(why, size, "no device's name can be like that: names have 1 to %d characters",
                 MATCH_NAME_SIZE - 2);
        return false;
    }
    rest = without_vendor(name);
    snprintf(selector->text, sizeof(selector->text), "%s", rest);
    selector->kind = strpbrk(rest, "*?") ? SELECT_PATTERN : SELECT_NAME;
    if (strspn(rest, "*? ") == strlen(rest)) {
        snprintf(why, size, "it has nothing but wildcards: [policy] is for every device");
        return false;
    }
    return true;
}

/* The text behind "KIND:", NULL when it has no such beginning. */
static const char *behind_kind(const char *text, const char *kind)
{
    size_t length = strlen(kind);

    return ascii_starts(text, kind) && text[length] == ':' ? text + length + 1 : NULL;
}

static bool parse_identity(const char *text, struct selector *selector, char *why, size_t size)
{
    const char *value;

    if ((value = behind_kind(text, "uuid"))) {
        selector->kind = SELECT_UUID;
        snprintf(why, size, "write uuid:GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
        return parse_uuid(value, selector->text);
    }
    if ((value = behind_kind(text, "pci"))) {
        selector->kind = SELECT_PCI;
        snprintf(why, size, "write pci:DOMAIN:BUS:DEVICE.FUNCTION, as pci:0000:01:00.0");
        return parse_pci(value, &selector->pci);
    }
    if ((value = behind_kind(text, "arch"))) {
        selector->kind = SELECT_ARCH;
        snprintf(why, size, "write arch:sm_89 or the like, with at most 31 characters");
        snprintf(selector->text, sizeof(selector->text), "%s", value);
        ascii_lower_all(selector->text);
        return *value && strlen(value) < 32 && !strpbrk(value, " \t");
    }
    if ((value = behind_kind(text, "vendor"))) {
        selector->kind = SELECT_VENDOR;
        snprintf(why, size,
                 "vendors are nvidia, amd, intel, apple, arm, qualcomm, imagination, mesa, "
                 "or a number as 0x10de");
        return parse_vendor(value, &selector->number);
    }
    if ((value = behind_kind(text, "type"))) {
        selector->kind = SELECT_TYPE;
        snprintf(why, size, "types are discrete, integrated, virtual, cpu and other");
        return parse_type(value, &selector->number);
    }
    snprintf(why, size, "selectors begin with uuid:, pci:, arch:, vendor: or type:, or are a name");
    return false;
}

/* Whether the text begins with a word and ':', so that it can't be a name. */
static bool has_kind(const char *text)
{
    while (ascii_word(*text))
        text++;
    return *text == ':';
}

bool selector_parse(const char *text, struct selector *selector, char *why, size_t size)
{
    memset(selector, 0, sizeof(*selector));
    if (has_kind(text) ? !parse_identity(text, selector, why, size)
                       : !parse_name(text, selector, why, size))
        return false;
    for (const char *c = selector->text; *c; c++)
        selector->literal += wildcard(*c) ? 0 : 1;
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
        return text[0] && glob(selector->text, text);
    case SELECT_PATTERN:
    case SELECT_NAME:
        return name_matches(selector, subject->name);
    case SELECT_PCI:
        return subject->pci && parse_pci(subject->pci, &pci) && same_pci(&pci, &selector->pci);
    case SELECT_UUID:
        return subject->uuid && parse_uuid(subject->uuid, text) &&
               strcmp(text, selector->text) == 0;
    }
    return false;
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
