/* The lines of INI texts. Tests named cNN are failures that have been seen in other programs. */
#include "unit.h"

#include <stdlib.h>

#include "core/ini.h"

static struct arena arena;
static struct remarks remarks;
static struct ini ini;

static void read_bytes(const char *text, size_t size)
{
    arena_release(&arena);
    remarks = (struct remarks){.arena = &arena, .file = "f.ini"};
    ini_read(&ini, text, size, &remarks);
    assert_false(arena.failed);
}

static void read_text(const char *text)
{
    read_bytes(text, strlen(text));
}

static void check_counts(uint32_t sections, uint32_t keys, uint32_t mistakes)
{
    for (uint32_t i = mistakes; i < remarks.count; i++)
        print_message("%s\n", remarks.items[i].text);
    assert_int_equal(ini.section_count, sections);
    assert_int_equal(ini.key_count, keys);
    assert_int_equal(remarks.count, mistakes);
}

static void check_key(uint32_t i, uint32_t line, const char *name, const char *value)
{
    assert_true(i < ini.key_count);
    assert_int_equal(ini.keys[i].line, line);
    assert_string_equal(ini.keys[i].name, name);
    assert_string_equal(ini.keys[i].value, value);
}

static void check_mistake(uint32_t i, uint32_t line, const char *part)
{
    char front[32];

    assert_true(i < remarks.count);
    assert_int_equal(remarks.items[i].kind, REMARK_MISTAKE);
    assert_int_equal(remarks.items[i].line, line);
    snprintf(front, sizeof(front), "f.ini:%u: ", line);
    assert_int_equal(strncmp(remarks.items[i].text, front, strlen(front)), 0);
    assert_contains(remarks.items[i].text, part);
}

/* A line that is refused leaves the lines around it alone. */
static void check_refused(const char *line, const char *part)
{
    char text[20000];

    snprintf(text, sizeof(text), "[policy]\na = 1\n%s\nb = 2\n", line);
    read_text(text);
    check_counts(1, 2, 1);
    check_mistake(0, 3, part);
    check_key(0, 2, "a", "1");
    check_key(1, 4, "b", "2");
}

static void check_value(const char *line, const char *value)
{
    char text[20000];

    snprintf(text, sizeof(text), "[policy]\n%s\nafter = 1\n", line);
    read_text(text);
    check_counts(1, 2, 0);
    check_key(0, 2, "key", value);
    check_key(1, 3, "after", "1");
}

/* ---- C42 ------------------------------------------------------------------------------------ */

static void check_two(const char *text, uint32_t first_line)
{
    read_text(text);
    check_counts(1, 2, 0);
    assert_string_equal(ini.sections[0].name, "policy");
    check_key(0, first_line, "a", "1");
    check_key(1, first_line + 1, "b", "2");
}

static void c42_line_ends_bom_and_final_newline(void **state)
{
    (void)state;
    check_two("[policy]\na = 1\nb = 2\n", 2);
    check_two("[policy]\r\na = 1\r\nb = 2\r\n", 2);
    check_two("[policy]\na = 1\nb = 2", 2);
    check_two("[policy]\r\na = 1\r\nb = 2\r", 2);
    check_two("\xef\xbb\xbf[policy]\na = 1\nb = 2\n", 2);
    check_two("\xef\xbb\xbf; a comment\n[policy]\na = 1\nb = 2\n", 3);
}

static void c42_utf16_and_zero_bytes(void **state)
{
    static const char little[] = "\xff\xfe[\0p\0]\0\n";
    static const char big[] = "\xfe\xff\0[\0p\0]\0\n";
    static const char zero[] = "[policy]\na = 1\nb = \0 2\n";

    (void)state;
    read_bytes(little, sizeof(little) - 1);
    check_counts(0, 0, 1);
    check_mistake(0, 1, "UTF-16");
    read_bytes(big, sizeof(big) - 1);
    check_counts(0, 0, 1);
    check_mistake(0, 1, "UTF-16");
    read_bytes(zero, sizeof(zero) - 1);
    check_counts(0, 0, 1);
    check_mistake(0, 3, "zero byte");
}

/* Files that were saved in an older encoding. Comments may hold anything. */
static void c42_latin_1(void **state)
{
    (void)state;
    check_refused("key = Gr\xfc\xdf"
                  "e",
                  "no UTF-8: save the file as UTF-8");
    check_refused("key = \xed\xa0\x80", "no UTF-8");
    check_value("key = Gr\xc3\xbc\xc3\x9f"
                "e ; Gr\xfc\xdf"
                "e",
                "Gr\xc3\xbc\xc3\x9f"
                "e");
    read_text("; Gr\xfc\xdf"
              "e\n[gpu \xe4]\n[gpu \xc3\xa4]\n");
    check_counts(2, 0, 1);
    check_mistake(0, 2, "no UTF-8");
    assert_null(ini.sections[0].name);
}

static void c42_lines_that_end_in_cr_alone(void **state)
{
    (void)state;
    read_text("; a comment\r[policy]\ra = 1\r");
    check_counts(0, 0, 1);
    check_mistake(0, 1, "carriage return");
}

static void an_empty_text_has_nothing(void **state)
{
    (void)state;
    read_text("");
    check_counts(0, 0, 0);
    read_text("\n\n  \n\t\n");
    check_counts(0, 0, 0);
    read_text("\xef\xbb\xbf");
    check_counts(0, 0, 0);
}

/* ---- C43 ------------------------------------------------------------------------------------ */

static const size_t lengths[] = {199, 200, 201, 1023, 10000};

enum { LENGTH_COUNT = sizeof(lengths) / sizeof(lengths[0]) };

static const char *filled(const char *front, size_t length, char c)
{
    static char text[10100];
    size_t used = strlen(front);

    memcpy(text, front, used);
    memset(text + used, c, length - used);
    text[length] = '\0';
    return text;
}

static void c43_long_comment(void **state)
{
    (void)state;
    for (int i = 0; i < LENGTH_COUNT; i++) {
        char text[10200];

        snprintf(text, sizeof(text), "[policy]\n%s\na = 1\n", filled("; ", lengths[i], 'x'));
        read_text(text);
        check_counts(1, 1, 0);
        check_key(0, 3, "a", "1");
        check_value(filled("key = 16 ; ", lengths[i], 'x'), "16");
        check_value(filled("key = 16 # ", lengths[i], '='), "16");
    }
}

static void c43_long_value(void **state)
{
    const size_t front = strlen("key = ");

    (void)state;
    for (size_t length = INI_PAIR_MAX - 2; length <= INI_PAIR_MAX; length++) {
        char line[INI_PAIR_MAX + 1];

        snprintf(line, sizeof(line), "%s", filled("key = ", length, 'x'));
        check_value(line, line + front);
    }
    check_refused(filled("key = ", INI_PAIR_MAX + 1, 'x'),
                  "191 bytes of key and value: at most 190");
    for (int i = 0; i < LENGTH_COUNT; i++)
        check_refused(filled("key = ", lengths[i], 'x'), "at most 190");
}

static void c43_long_names(void **state)
{
    char header[10200], key[10200];

    (void)state;
    snprintf(header, sizeof(header), "[gpu %s]\na = 1\n", filled("", 300, 'n'));
    read_text(header);
    check_counts(1, 1, 0);
    assert_int_equal(strlen(ini.sections[0].name), 304);

    snprintf(key, sizeof(key), "[policy]\n%s = 1\n", filled("block_size.", 120, 'k'));
    read_text(key);
    check_counts(1, 1, 0);
    assert_int_equal(strlen(ini.keys[0].name), 120);
}

/* ---- C45 ------------------------------------------------------------------------------------ */

static void c45_indentation_means_nothing(void **state)
{
    (void)state;
    read_text("  [policy]\na = 1\n\tb = 2\n    c = 3\n  ; comment\n\t# comment\n");
    check_counts(1, 3, 0);
    check_key(0, 2, "a", "1");
    check_key(1, 3, "b", "2");
    check_key(2, 4, "c", "3");
}

static void c45_continuation_is_refused(void **state)
{
    (void)state;
    check_refused("   second line", "can't be continued");
    check_refused("key = first \\", "can't be continued");
}

static void c45_colon_does_not_separate(void **state)
{
    (void)state;
    check_refused("key: value", "no \"key = value\"");
    check_refused("pci 0000:01:00.0", "no \"key = value\"");
    check_refused("key: a = b", "\"key: a\" is no key");
    check_value("key = pci:0000:01:00.0", "pci:0000:01:00.0");
    check_value("key = a = b", "a = b");
}

static void c45_semicolon_and_hash(void **state)
{
    (void)state;
    check_value("key = a;b", "a;b");
    check_value("key=a#b", "a#b");
    check_value("key = a ; c", "a");
    check_value("key = a # c", "a");
    check_value("key = a\t;c", "a");
    check_value("key = a;b ;c", "a;b");
    check_refused("key = ;comment", "has no value");
    read_text("[policy];x\n[gpu A] ; y\n[gpu B]#z\n");
    check_counts(3, 0, 0);
}

static void c45_brackets(void **state)
{
    (void)state;
    read_text("[gpu X] trailing\na = 1\n[gpu Y\nb = 2\n[gpu A]B]\nc = 3\n[ gpu  Z ]\nd = 4\n");
    check_counts(4, 4, 3);
    check_mistake(0, 1, "\"trailing\" stands behind");
    check_mistake(1, 3, "no ']'");
    check_mistake(2, 5, "written '?'");
    assert_null(ini.sections[0].name);
    assert_null(ini.sections[1].name);
    assert_null(ini.sections[2].name);
    assert_string_equal(ini.sections[3].name, "gpu  Z");
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(ini.keys[i].section, i);
    read_text("[gpu Tesla #2 ; rev]\n");
    assert_string_equal(ini.sections[0].name, "gpu Tesla #2 ; rev");
}

static void c45_keys_without_key_or_value(void **state)
{
    (void)state;
    check_refused("key", "no \"key = value\"");
    check_refused("key =", "has no value");
    check_refused("key =   \t", "has no value");
    check_refused("= 5", "no key in front");
    check_refused("two words = 5", "\"two words\" is no key");
    check_refused("schl\xc3\xbcssel = 5", "is no key");
    check_refused("key = a\x01z", "control character");
}

/* ---- Order ---------------------------------------------------------------------------------- */

static void keys_know_their_section(void **state)
{
    (void)state;
    read_text("a = 1\n[one]\n[two]\nb = 2\n[three]\nc = 3\nd = 4\n[four]\n");
    check_counts(4, 4, 0);
    assert_int_equal(ini.keys[0].section, INI_NO_SECTION);
    assert_int_equal(ini.keys[1].section, 1);
    assert_int_equal(ini.keys[2].section, 2);
    assert_int_equal(ini.keys[3].section, 2);
    assert_int_equal(ini.sections[3].line, 8);
}

static void every_mistake_is_reported(void **state)
{
    char text[1000] = "";

    (void)state;
    for (int i = 0; i < 40; i++)
        strcat(text, i % 2 ? "nonsense\n" : "[open\n");
    read_text(text);
    check_counts(20, 0, 40);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(remarks.items[i].line, i + 1);
}

static void texts_without_end_are_cut(void **state)
{
    enum { MANY = INI_KEYS_MAX + 10 };
    char *text = calloc(MANY, 16), *end = text;

    (void)state;
    for (uint32_t i = 0; i < INI_SECTIONS_MAX + 1; i++)
        end += sprintf(end, "[gpu %u]\n", i);
    strcpy(end, "a = 1\n");
    read_text(text);
    check_counts(INI_SECTIONS_MAX, 0, 1);
    check_mistake(0, INI_SECTIONS_MAX + 1, "at most 1024 sections: nothing from this line on");
    end = text + sprintf(text, "[policy]\n");
    for (uint32_t i = 0; i < INI_KEYS_MAX + 1; i++)
        end += sprintf(end, "k%u = 1\n", i);
    strcpy(end, "[gpu A]\n");
    read_text(text);
    check_counts(1, INI_KEYS_MAX, 1);
    check_mistake(0, INI_KEYS_MAX + 2, "at most 4096 keys");
    free(text);
}

/* Any bytes: nothing but a remark may come of them. */
static void noise_is_survived(void **state)
{
    static const char pieces[] = "[]=;#\n\r\t \\:.aZ0\xff\xef";
    char text[300];

    (void)state;
    srand(1);
    for (int round = 0; round < 3000; round++) {
        size_t length = (size_t)rand() % sizeof(text);

        for (size_t i = 0; i < length; i++)
            text[i] = pieces[(size_t)rand() % (sizeof(pieces) - 1)];
        read_bytes(text, length);
        for (uint32_t i = 0; i < ini.key_count; i++)
            assert_true(ini.keys[i].name[0] && ini.keys[i].value[0] && ini.keys[i].line);
    }
}

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c42_line_ends_bom_and_final_newline),
        cmocka_unit_test(c42_utf16_and_zero_bytes),
        cmocka_unit_test(c42_latin_1),
        cmocka_unit_test(c42_lines_that_end_in_cr_alone),
        cmocka_unit_test(an_empty_text_has_nothing),
        cmocka_unit_test(c43_long_comment),
        cmocka_unit_test(c43_long_value),
        cmocka_unit_test(c43_long_names),
        cmocka_unit_test(c45_indentation_means_nothing),
        cmocka_unit_test(c45_continuation_is_refused),
        cmocka_unit_test(c45_colon_does_not_separate),
        cmocka_unit_test(c45_semicolon_and_hash),
        cmocka_unit_test(c45_brackets),
        cmocka_unit_test(c45_keys_without_key_or_value),
        cmocka_unit_test(keys_know_their_section),
        cmocka_unit_test(every_mistake_is_reported),
        cmocka_unit_test(texts_without_end_are_cut),
        cmocka_unit_test(noise_is_survived),
    };

    return cmocka_run_group_tests_name("ini", tests, NULL, release);
}
