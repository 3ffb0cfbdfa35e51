/* What is UTF-8, and texts that are made so. */
#include "unit.h"

#include "core/utf8.h"

static const char *const good[] = {
    "",
    "a\tb",
    "\x7f",
    "\xc2\x80",
    "\xdf\xbf",
    "\xe0\xa0\x80",
    "\xed\x9f\xbf",
    "\xee\x80\x80",
    "\xef\xbf\xbf",
    "\xf0\x90\x80\x80",
    "\xf4\x8f\xbf\xbf",
    "x\xe2\x84\xa2y",
};

/* And what becomes of them. */
static const char *const bad[][2] = {
    {"\x80", "?"},                /* no first byte */
    {"\xc3", "?"},                /* cut */
    {"\xe2\x84", "??"},           /* cut */
    {"\xf0\x90\x80", "???"},      /* cut */
    {"\xc0\x80", "??"},           /* overlong */
    {"\xc1\xbf", "??"},           /* overlong */
    {"\xe0\x9f\xbf", "???"},      /* overlong */
    {"\xf0\x8f\xbf\xbf", "????"}, /* overlong */
    {"\xed\xa0\x80", "???"},      /* surrogate */
    {"\xf4\x90\x80\x80", "????"}, /* beyond U+10FFFF */
    {"\xf5\x80\x80\x80", "????"}, /* likewise */
    {"\xfe\xff", "??"},           /* never */
    {"a\xfc\xdf"
     "b\xc3\xbc",
     "a??b\xc3\xbc"}, /* Latin-1 before UTF-8 */
};

static void valid_texts_stay(void **state)
{
    char text[16];

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(utf8_valid(good[i]));
    snprintf(text, sizeof(text), "x\xe2\x84\xa2y");
    utf8_mend(text);
    assert_string_equal(text, "x\xe2\x84\xa2y");
}

static void invalid_bytes_are_replaced(void **state)
{
    char text[16];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(utf8_valid(bad[i][0]));
        snprintf(text, sizeof(text), "%s", bad[i][0]);
        utf8_mend(text);
        assert_string_equal(text, bad[i][1]);
        assert_true(utf8_valid(text));
    }
}

static void control_characters_are_replaced(void **state)
{
    char text[] = "a\033[2J\nb\x7f\t";

    (void)state;
    utf8_mend(text);
    assert_string_equal(text, "a?[2J?b??");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts_stay),
        cmocka_unit_test(invalid_bytes_are_replaced),
        cmocka_unit_test(control_characters_are_replaced),
    };

    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
