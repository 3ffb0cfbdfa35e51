/* Which sections tie: equally specific, and some device is taken by both. */
#include "unit.h"

#include <stdlib.h>

#include "core/model.h"
#include "core/tie.h"

static struct selector parse(const char *text)
{
    struct selector selector;
    char why[256];

    if (!selector_parse(text, &selector, why, sizeof(why))) {
        print_error("\"%s\": %s\n", text, why);
        _fail(__FILE__, __LINE__);
    }
    return selector;
}

static void known_pairs(void **state)
{
    static const struct {
        const char *a, *b;
        bool tie;
    } cases[] = {
        {"RTX 40*", "RTX 4?6*", true},
        {"RTX 40*", "RTX 50*", false},
        {"RTX 40*", "RTX 406*", false}, /* the longer one is more specific */
        {"*4060", "RTX *", true},
        {"*4060 ", "RTX ?", false},
        {"*4060", "RTX *0", false}, /* likewise */
        {"H?00", "?200", true},
        {"H?00", "?20", false},
        {"H?00", "H?00", false}, /* the same section twice is another remark */
        {"H?00", "NVIDIA H?00", false},
        {"GeForce *", "RTX 4050*", true},
        {"NVIDIA *", "RTX 405*", true},
        {"NVIDIA ?TX *", "RTX 40?0*", false},
        {"H200", "H100", false},
        {"arch:sm_8?", "arch:sm_?9", true},
        {"arch:sm_8?", "arch:sm_9?", false},
        {"arch:sm_89", "arch:sm_90", false},
        {"arch:gfx11??", "arch:gfx11*", true},
        {"vendor:nvidia", "vendor:amd", false},
        {"vendor:nvidia", "type:discrete", false},
        {"type:discrete", "type:cpu", false},
        {"pci:0000:01:00.0", "pci:0000:02:00.0", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct selector a = parse(cases[i].a), b = parse(cases[i].b);

        if (tie_between(&a, &b) != cases[i].tie || tie_between(&b, &a) != cases[i].tie) {
            print_error("\"%s\" and \"%s\"\n", cases[i].a, cases[i].b);
            _fail(__FILE__, __LINE__);
        }
    }
}

/* ---- Against every short text --------------------------------------------------------------- */

enum { LETTERS = 2, TEXT_MAX = 6 };

/* The number-th pattern of the length; false when it has fewer than one letter or no wildcard. */
static bool pattern(char *text, int length, int number)
{
    for (int i = 0; i < length; i++, number /= 4)
        text[i] = "ab?*"[number % 4];
    text[length] = '\0';
    return strpbrk(text, "ab") && strpbrk(text, "?*");
}

static bool some_text_is_both(const char *a, const char *b)
{
    for (int length = 1; length <= TEXT_MAX; length++) {
        for (int number = 0; number < 1 << length; number++) {
            char text[TEXT_MAX + 1] = "";

            for (int i = 0; i < length; i++)
                text[i] = (char)('a' + (number >> i) % LETTERS);
            if (model_glob(a, text) && model_glob(b, text))
                return true;
        }
    }
    return false;
}

/* Two patterns of three characters that meet do so in a text of at most six. */
static void all_short_patterns(void **state)
{
    char first[4], second[4];

    (void)state;
    for (int i = 0; i < 64; i++) {
        for (int j = 0; j < 64; j++) {
            struct selector a, b;

            if (!pattern(first, 3, i) || !pattern(second, 3, j) || strcmp(first, second) == 0)
                continue;
            a = parse(first);
            b = parse(second);
            if (tie_between(&a, &b) !=
                (selector_rank(&a) == selector_rank(&b) && some_text_is_both(first, second))) {
                print_error("\"%s\" and \"%s\"\n", first, second);
                _fail(__FILE__, __LINE__);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_pairs),
        cmocka_unit_test(all_short_patterns),
    };

    return cmocka_run_group_tests_name("tie", tests, NULL, NULL);
}
