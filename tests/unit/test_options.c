/* The table of keys and the values that they take. Tests named cNN are failures that have been seen
 * in other programs. */
#include "unit.h"

#include <locale.h>
#include <stdlib.h>

#include "core/options.h"
#include "scratch.h"

static char why[OPTION_WHY_SIZE];

static bool parse(enum option_id id, const char *text, struct option_value *value)
{
    static char copy[256];

    snprintf(copy, sizeof(copy), "%s", text);
    why[0] = '\0';
    return option_parse(id, copy, value, why);
}

static void check_refused(enum option_id id, const char *text, const char *part)
{
    struct option_value value;

    if (parse(id, text, &value)) {
        print_error("%s takes \"%s\"\n", options[id].name, text);
        _fail(__FILE__, __LINE__);
    }
    assert_contains(why, part);
    assert_contains(why, "write ");
}

static uint32_t whole(enum option_id id, const char *text)
{
    struct option_value value;

    if (!parse(id, text, &value)) {
        print_error("%s refuses \"%s\": it %s\n", options[id].name, text, why);
        _fail(__FILE__, __LINE__);
    }
    return value.whole;
}

/* ---- The table ------------------------------------------------------------------------------ */

static void every_option_is_complete(void **state)
{
    (void)state;
    for (int id = 0; id < OPTION_COUNT; id++) {
        const struct option *option = &options[id];
        struct option_value value;
        char range[OPTION_RANGE_SIZE];

        assert_non_null(option->name);
        assert_non_null(option->effect);
        assert_true(strlen(option->effect) > 20);
        assert_true(parse((enum option_id)id, option->fallback, &value));
        assert_string_equal(value.text, option->fallback);
        option_range((enum option_id)id, range);
        assert_true(strlen(range) > 0 && strlen(range) < sizeof(range) - 1);
        assert_int_equal(option_find(option->name), id);
        for (int word = 0; option->words[word]; word++) {
            assert_true(parse((enum option_id)id, option->words[word], &value));
            assert_int_equal(value.word, word);
        }
    }
    assert_int_equal(option_find("nonsense"), OPTION_COUNT);
    assert_int_equal(option_find("Batch_Size"), OPTION_BATCH_SIZE);
}

static void defaults_are_as_documented(void **state)
{
    (void)state;
    assert_string_equal(options[OPTION_BACKEND].fallback, "cuda, vulkan");
    assert_string_equal(options[OPTION_DEVICE].fallback, "auto");
    assert_string_equal(options[OPTION_BATCH_SIZE].fallback, "16");
    assert_string_equal(options[OPTION_CHAINS].fallback, "8");
    assert_string_equal(options[OPTION_SPIN_US].fallback, "1000");
    assert_string_equal(options[OPTION_FOLD].fallback, "on");
    assert_string_equal(options[OPTION_PROGRAMMATIC].fallback, "on");
    assert_string_equal(options[OPTION_SUBMIT].fallback, "auto");
}

static void misspelt_keys_find_their_neighbour(void **state)
{
    static const struct {
        const char *given;
        enum option_id nearest;
    } cases[] = {
        {"blok", OPTION_BLOCK_SIZE},
        {"blocksize", OPTION_BLOCK_SIZE},
        {"batch", OPTION_BATCH_SIZE},
        {"batch-size", OPTION_BATCH_SIZE},
        {"chain", OPTION_CHAINS},
        {"spin", OPTION_SPIN_US},
        {"programatic", OPTION_PROGRAMMATIC},
        {"validation", OPTION_VALIDATE},
        {"xyzzy", OPTION_COUNT},
        {"w", OPTION_COUNT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum option_id nearest = option_nearest(cases[i].given, OPTION_OF_POLICY);

        if (nearest != cases[i].nearest)
            print_error("\"%s\" is nearest to %d\n", cases[i].given, nearest);
        assert_int_equal(nearest, cases[i].nearest);
    }
}

/* ---- C46: numbers --------------------------------------------------------------------------- */

static void c46_numbers_are_strict(void **state)
{
    static const char *const junk[] = {"64k", "0x40",    "-1",    "+64",   "1e3",
                                       "6 4", "",        " 64",   "64 ",   "64.0",
                                       "٣",   "sixteen", "1,000", "1'000", "\xff"};

    (void)state;
    for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
        check_refused(OPTION_BATCH_SIZE, junk[i], "is no whole number in decimal digits");
    check_refused(OPTION_BATCH_SIZE, "0", "is out of range: write 1 to 65536");
    check_refused(OPTION_BATCH_SIZE, "65537", "is out of range: write 1 to 65536");
    check_refused(OPTION_BATCH_SIZE, "4294967296", "is out of range");
    check_refused(OPTION_BATCH_SIZE, "4294967297", "is out of range");
    check_refused(OPTION_BATCH_SIZE, "99999999999999999999", "is out of range");
    check_refused(OPTION_BATCH_SIZE, "18446744073709551617", "is out of range");
    assert_int_equal(whole(OPTION_BATCH_SIZE, "010"), 10);
    assert_int_equal(whole(OPTION_BATCH_SIZE, "1"), 1);
    assert_int_equal(whole(OPTION_BATCH_SIZE, "65536"), 65536);
    assert_int_equal(whole(OPTION_SPIN_US, "0"), 0);
}

static double decimal(const char *text)
{
    struct option_value value;

    assert_true(parse(OPTION_BATCH_MAX_MS, text, &value));
    return value.decimal;
}

static void c46_decimals_are_strict(void **state)
{
    static const char *const junk[] = {"1e1", "1.",  ".5",   "1.2.3", "1,5",   "0x1p3",
                                       "inf", "nan", "-1.5", "+1.5",  "1.5ms", ""};

    (void)state;
    for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
        check_refused(OPTION_BATCH_MAX_MS, junk[i], "is no number");
    check_refused(OPTION_BATCH_MAX_MS, "0.005", "is out of range: write 0.01 to 1000");
    check_refused(OPTION_BATCH_MAX_MS, "1000.001", "is out of range");
    check_refused(OPTION_BATCH_MAX_MS, "18446744073709551.616", "is out of range");
    check_refused(OPTION_BATCH_MAX_MS, "1.5000", "more than three digits");
    assert_true(decimal("0.75") == 0.75);
    assert_true(decimal("0.01") == 0.01);
    assert_true(decimal("2.5") == 2.5);
    assert_true(decimal("1000") == 1000.0);
}

/* ---- C47: a comma as the locale's decimal point --------------------------------------------- */

/* Makes the locale where the system has its source but not the locale; false when it can't. */
static bool use_comma_locale(void)
{
    char command[512];

    scratch_open(NULL);
    snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s >/dev/null 2>&1",
             scratch_path("de_DE.UTF-8"));
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && system(command) == 0) {
        setenv("LOCPATH", scratch_path("."), 1);
        setlocale(LC_ALL, "de_DE.UTF-8");
        unsetenv("LOCPATH");
    }
    scratch_close(NULL);
    return strcmp(localeconv()->decimal_point, ",") == 0;
}

/* From a text to what a program is shown. */
static void check_listing(const char *expected)
{
    struct gantry_params params = {.override_text = "[policy]\nbatch_max_ms = 0.75\n"};
    struct gantry_config_value value;
    struct gantry *g;

    setenv("GANTRY_CONFIG", "none", 1);
    assert_int_equal(gantry_open(&params, &g), GANTRY_OK);
    assert_int_equal(gantry_config_get(g, UINT32_MAX, OPTION_BATCH_MAX_MS, &value), GANTRY_OK);
    assert_string_equal(value.key, "batch_max_ms");
    assert_string_equal(value.value, expected);
    gantry_close(&g);
    params.override_text = "[policy]\nbatch_max_ms = 0,75\n";
    assert_int_equal(gantry_open(&params, &g), GANTRY_E_CONFIG);
    assert_contains(gantry_last_error(), "override_text:2: batch_max_ms: \"0,75\" is no number");
}

static void c47_comma_locale(void **state)
{
    char before[256], range[OPTION_RANGE_SIZE];

    (void)state;
    if (!use_comma_locale()) {
        print_message("skipped: there is no locale de_DE.UTF-8, and localedef can't make it\n");
        skip();
    }
    snprintf(before, sizeof(before), "%s", setlocale(LC_ALL, NULL));
    assert_true(decimal("0.75") == 0.75);
    check_refused(OPTION_BATCH_MAX_MS, "0,75", "is no number");
    option_range(OPTION_BATCH_MAX_MS, range);
    assert_string_equal(range, "0.01 to 1000");
    check_listing("0.75");
    assert_string_equal(setlocale(LC_ALL, NULL), before);
    setlocale(LC_ALL, "C");
}

/* ---- The other types ------------------------------------------------------------------------ */

static void words_switches_and_levels(void **state)
{
    struct option_value value;

    (void)state;
    assert_true(parse(OPTION_SUBMIT, "Graph", &value));
    assert_int_equal(value.word, 1);
    assert_string_equal(value.text, "graph");
    check_refused(OPTION_SUBMIT, "fast", "auto, graph or stream");
    assert_true(parse(OPTION_FOLD, "No", &value));
    assert_false(value.on);
    assert_string_equal(value.text, "off");
    assert_true(parse(OPTION_FOLD, "1", &value));
    assert_true(value.on);
    check_refused(OPTION_FOLD, "2", "on or off");
    check_refused(OPTION_FOLD, "auto", "on or off");
    assert_true(parse(OPTION_VALIDATE, "auto", &value));
    assert_true(parse(OPTION_LOG, "3", &value));
    assert_string_equal(value.text, "info");
    check_refused(OPTION_LOG, "5", "off, error, warning, info or debug");
    check_refused(OPTION_SUBMIT, "1", "auto, graph or stream");
    assert_int_equal(whole(OPTION_QUEUE_FAMILY, "2"), 2);
    check_refused(OPTION_QUEUE_FAMILY, "64", "auto, compute, graphics, or 0 to 63");
    check_refused(OPTION_BLOCKS_PER_CU, "0", "auto, or 1 to 1024");
}

static void check_block(const char *text, uint32_t x, uint32_t y, uint32_t z)
{
    struct option_value value;

    assert_true(parse(OPTION_BLOCK_SIZE, text, &value));
    assert_int_equal(value.block.x, x);
    assert_int_equal(value.block.y, y);
    assert_int_equal(value.block.z, z);
}

static void blocks(void **state)
{
    static const char *const junk[] = {"16x",   "x16", "16x16x", "16 x 16",
                                       "16*16", "-16", "16xx16", ""};

    (void)state;
    check_block("256", 256, 0, 0);
    check_block("16x8", 16, 8, 0);
    check_block("16X8x4", 16, 8, 4);
    check_block("auto", 0, 0, 0);
    for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
        check_refused(OPTION_BLOCK_SIZE, junk[i], "is no size of a block");
    check_refused(OPTION_BLOCK_SIZE, "0", "is out of range");
    check_refused(OPTION_BLOCK_SIZE, "16x0", "is out of range");
    check_refused(OPTION_BLOCK_SIZE, "1025", "is out of range");
    check_refused(OPTION_BLOCK_SIZE, "2x2x2x2", "more than three axes");
}

static void backends(void **state)
{
    struct option_value value;

    (void)state;
    assert_true(parse(OPTION_BACKEND, "CUDA,vulkan", &value));
    assert_string_equal(value.text, "cuda,vulkan");
    assert_true(parse(OPTION_BACKEND, "my-gpu_2", &value));
    assert_true(parse(OPTION_BACKEND, "Auto", &value));
    assert_string_equal(value.text, options[OPTION_BACKEND].fallback);
    check_refused(OPTION_BACKEND, "", "empty place");
    check_refused(OPTION_BACKEND, "cuda,,vulkan", "empty place");
    check_refused(OPTION_BACKEND, "cuda, ", "empty place");
    check_refused(OPTION_BACKEND, "cuda vulkan", "no list of backends");
    check_refused(OPTION_BACKEND, "../evil", "no list of backends");
    check_refused(OPTION_BACKEND, "cuda, vulkan , CUDA", "twice");
}

static void devices(void **state)
{
    static const char *const taken[] = {"auto",
                                        "0",
                                        "7",
                                        "cuda:0",
                                        "RTX 4060*",
                                        "pci:0000:01:00.0",
                                        "uuid:GPU-01234567-89ab-cdef-0123-456789abcdef"};
    struct option_value value;

    (void)state;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        assert_true(parse(OPTION_DEVICE, taken[i], &value));
    check_refused(OPTION_DEVICE, "-1", "is no index of a device");
    check_refused(OPTION_DEVICE, "+0", "is no index of a device");
    assert_false(parse(OPTION_DEVICE, "pci:1", &value));
    assert_contains(why, "is no device: write pci:DOMAIN");
    assert_false(parse(OPTION_DEVICE, "cuda:x", &value));
    assert_false(parse(OPTION_DEVICE, "", &value));
}

static void paths(void **state)
{
    struct option_value value;

    (void)state;
    assert_true(parse(OPTION_PLUGIN_PATH, "/a:/b c/d", &value));
    assert_true(parse(OPTION_PLUGIN_PATH, "", &value));
    check_refused(OPTION_PLUGIN_PATH, "plugins", "is not absolute");
    check_refused(OPTION_PLUGIN_PATH, "/a:.", "is not absolute");
    check_refused(OPTION_PLUGIN_PATH, "\"/a\"", "is not absolute");
    check_refused(OPTION_PLUGIN_PATH, "/a:", "empty place");
    check_refused(OPTION_PLUGIN_PATH, "/a::/b", "empty place");
    check_refused(OPTION_PLUGIN_PATH, ":/a", "empty place");
    assert_true(parse(OPTION_CACHE_DIR, "/var/cache/x", &value));
    assert_true(parse(OPTION_CACHE_DIR, "off", &value));
    check_refused(OPTION_CACHE_DIR, "~/x", "is not absolute");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_is_complete),
        cmocka_unit_test(defaults_are_as_documented),
        cmocka_unit_test(misspelt_keys_find_their_neighbour),
        cmocka_unit_test(c46_numbers_are_strict),
        cmocka_unit_test(c46_decimals_are_strict),
        cmocka_unit_test(c47_comma_locale),
        cmocka_unit_test(words_switches_and_levels),
        cmocka_unit_test(blocks),
        cmocka_unit_test(backends),
        cmocka_unit_test(devices),
        cmocka_unit_test(paths),
    };

    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
