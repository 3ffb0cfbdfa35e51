/* Fuzz target: an INI text, read into rules and asked about. */
#include "fuzz.h"

#include <string.h>

#include "core/resolve.h"
#include "core/utf8.h"

static const char bom[] = "\xef\xbb\xbf";

static const struct policy_subject subject = {
    .name = "NVIDIA GeForce RTX 4060",
    .uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef",
    .pci = "0000:01:00.0",
    .arch = "sm_89",
    .vendor_id = 0x10de,
    .type = GANTRY_DEVICE_DISCRETE,
    .backend = "cuda",
};

/* ---- A text that was read ------------------------------------------------------------------- */

static void read_text(const char *text, size_t size, struct arena *arena, struct rules *rules)
{
    *arena = (struct arena){0};
    rules_init(rules, arena);
    rules_add_built_in(rules);
    rules->source++;
    rules->remarks.file = "f.ini";
    rules->remarks.named = true;
    rules_read(rules, text, size);
}

static uint32_t count_lines(const char *text, size_t size)
{
    uint32_t lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

static void check_remarks(const struct remarks *remarks, uint32_t lines)
{
    for (uint32_t i = 0; i < remarks->count; i++) {
        const struct remark *remark = &remarks->items[i];
        char front[32];

        snprintf(front, sizeof(front), "f.ini:%u: ", remark->line);
        HOLDS(remark->line >= 1 && remark->line <= lines);
        HOLDS(remark->order == i);
        HOLDS(strncmp(remark->text, front, strlen(front)) == 0);
        HOLDS(strcmp(remark->text + strlen(front), remark->what) == 0);
        HOLDS(remark->what[0] && utf8_valid(remark->what) && !strpbrk(remark->what, "\r\n\t\033"));
    }
}

/* A value's text says the same when it is read again: `gantry config` shows it to be written. */
static void check_value(const struct rule *rule)
{
    char why[OPTION_WHY_SIZE], text[512];
    struct option_value again;

    HOLDS(utf8_valid(rule->value.text));
    HOLDS(strlen(rule->value.text) < sizeof(text));
    snprintf(text, sizeof(text), "%s", rule->value.text);
    HOLDS(option_parse(rule->option, text, &again, why));
    HOLDS(strcmp(again.text, rule->value.text) == 0);
    HOLDS(again.whole == rule->value.whole && again.on == rule->value.on);
    HOLDS(again.block.x == rule->value.block.x && again.block.y == rule->value.block.y &&
          again.block.z == rule->value.block.z);
}

static void check_rules(const struct rules *rules, uint32_t lines)
{
    for (uint32_t i = OPTION_COUNT; i < rules->count; i++) {
        const struct rule *rule = &rules->items[i];

        HOLDS(rule->option < OPTION_COUNT);
        HOLDS(options[rule->option].scope & section_scopes(rule->section));
        HOLDS(!rule->kernel || options[rule->option].scope == OPTION_OF_KERNEL);
        HOLDS(rule->section->line >= 1 && rule->section->line < rule->line && rule->line <= lines);
        check_value(rule);
    }
}

/* ---- The same text in other forms ----------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void check_same(const struct rules *a, const struct rules *b)
{
    HOLDS(a->remarks.count == b->remarks.count && a->count == b->count);
    for (uint32_t i = 0; i < a->remarks.count; i++)
        HOLDS(strcmp(a->remarks.items[i].text, b->remarks.items[i].text) == 0);
    for (uint32_t i = 0; i < a->count; i++) {
        const struct rule *left = &a->items[i], *right = &b->items[i];

        HOLDS(left->line == right->line && strcmp(left->key, right->key) == 0);
        HOLDS(same_text(left->backend, right->backend));
        HOLDS(strcmp(left->description, right->description) == 0);
    }
}

static void check_form(const char *text, size_t size, const struct rules *expected)
{
    struct arena arena;
    struct rules rules;

    read_text(text, size, &arena, &rules);
    check_same(expected, &rules);
    arena_release(&arena);
}

/* Bytes that are no text are refused by their first ones, which a mark would hide. */
static bool begins_otherwise(const char *text, size_t size)
{
    return size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}

static void check_forms(const char *text, size_t size, const struct rules *rules)
{
    char *copy = malloc(2 * size + sizeof(bom)), *end = copy;

    check_form(text, size, rules);
    if ((size < 3 || memcmp(text, bom, 3) != 0) && !begins_otherwise(text, size)) {
        memcpy(copy, bom, 3);
        memcpy(copy + 3, text, size);
        check_form(copy, size + 3, rules);
    }
    if (!memchr(text, '\r', size)) {
        for (size_t i = 0; i < size; i++) {
            if (text[i] == '\n')
                *end++ = '\r';
            *end++ = text[i];
        }
        check_form(copy, (size_t)(end - copy), rules);
    }
    free(copy);
}

/* ---- The target ----------------------------------------------------------------------------- */

/* Every option has a value for every device. */
static void check_answers(struct rules *rules)
{
    rules_sort(rules);
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct question question = {.subject = &subject, .option = (enum option_id)id};
        const struct question nobody = {.option = (enum option_id)id};
        const struct rule *rule = resolve(rules, &question);

        HOLDS(rule && rule->option == question.option && !rule->kernel);
        while (rule && rule->section) {
            const struct rule *next = resolve_next(rules, &question, rule);

            HOLDS(next && next->source <= rule->source);
            rule = next;
        }
        HOLDS(resolve(rules, &nobody));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    uint32_t lines = count_lines(text, size);
    struct arena arena;
    struct rules rules;

    read_text(text, size, &arena, &rules);
    HOLDS(!arena.failed);
    check_remarks(&rules.remarks, lines);
    check_rules(&rules, lines);
    check_forms(text, size, &rules);
    check_answers(&rules);
    arena_release(&arena);
    return 0;
}
