/* Statuses, error sentences, log messages and the names of enums. */
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/log.h"
#include "core/status.h"

/* ---- Statuses ------------------------------------------------------------------------------- */

static void every_status_has_a_name_and_a_text(void **state)
{
    (void)state;
#define X(name, value, text)                                                 \
    assert_int_equal(GANTRY_##name, value);                                  \
    assert_string_equal(gantry_status_name(GANTRY_##name), "GANTRY_" #name); \
    assert_string_equal(gantry_status_text(GANTRY_##name), text);
    GANTRY_STATUS_MAP(X)
#undef X
    assert_string_equal(gantry_status_name((enum gantry_status)12345), "unknown status");
    assert_string_equal(gantry_status_text((enum gantry_status)12345), "unknown status");
}

static void a_failure_leaves_its_sentence(void **state)
{
    (void)state;
    assert_int_equal(fail(GANTRY_E_LIMIT, "%d of %d", 9, 8), GANTRY_E_LIMIT);
    assert_string_equal(gantry_last_error(), "9 of 8");
    fail_context("buffer \"%s\"", "x");
    assert_string_equal(gantry_last_error(), "buffer \"x\": 9 of 8");
}

static void a_sentence_may_quote_the_one_before(void **state)
{
    (void)state;
    fail(GANTRY_E_IO, "inner");
    fail(GANTRY_E_PLUGIN, "outer (%s)", gantry_last_error());
    assert_string_equal(gantry_last_error(), "outer (inner)");
}

static int ends_in_ellipsis(const char *text)
{
    size_t length = strlen(text);

    return length > 3 && strcmp(text + length - 3, "…") == 0;
}

static void long_sentences_end_in_an_ellipsis(void **state)
{
    char text[10001];
    size_t length;

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    fail(GANTRY_E_LIMIT, "%s", text);
    length = strlen(gantry_last_error());
    assert_true(length >= 1024 && length < 10000);
    assert_true(ends_in_ellipsis(gantry_last_error()));

    fail_context("front");
    assert_int_equal(strncmp(gantry_last_error(), "front: aaa", 10), 0);
    assert_true(ends_in_ellipsis(gantry_last_error()));
    assert_int_equal(strlen(gantry_last_error()), length);

    fail_context("%s", text);
    assert_true(ends_in_ellipsis(gantry_last_error()));
}

/* A cut inside "é" must not leave half of it. */
static void a_cut_leaves_whole_characters(void **state)
{
    char text[10001];

    (void)state;
    for (int shift = 0; shift < 2; shift++) {
        const unsigned char *end;

        memset(text, 'a', (size_t)shift);
        for (size_t i = (size_t)shift; i + 2 < sizeof(text); i += 2)
            memcpy(text + i, "é", 3);
        fail(GANTRY_E_LIMIT, "%s", text);
        assert_true(ends_in_ellipsis(gantry_last_error()));
        end = (const unsigned char *)gantry_last_error() + strlen(gantry_last_error()) - 4;
        assert_true((*end & 0xc0) == 0x80 && end[-1] == 0xc3);
    }
}

static void *other_thread(void *before)
{
    snprintf(before, 16, "%s", gantry_last_error());
    fail(GANTRY_E_IO, "of the other thread");
    return NULL;
}

static void each_thread_has_its_own_sentence(void **state)
{
    pthread_t thread;
    char before[16] = "not run";

    (void)state;
    fail(GANTRY_E_LIMIT, "of this thread");
    assert_int_equal(pthread_create(&thread, NULL, other_thread, before), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(before, "");
    assert_string_equal(gantry_last_error(), "of this thread");
}

/* ---- Names ---------------------------------------------------------------------------------- */

static void enums_have_names(void **state)
{
    (void)state;
    assert_string_equal(gantry_version(), "0.1.0");
    assert_string_equal(gantry_device_type_name(GANTRY_DEVICE_OTHER), "other");
    assert_string_equal(gantry_device_type_name(GANTRY_DEVICE_CPU), "cpu");
    assert_string_equal(gantry_device_type_name((enum gantry_device_type)99), "unknown");
    assert_string_equal(gantry_scalar_name(GANTRY_SCALAR_POINTER), "pointer");
    assert_string_equal(gantry_scalar_name(GANTRY_SCALAR_DOUBLE), "double");
    assert_string_equal(gantry_scalar_name((enum gantry_scalar)99), "unknown");
    assert_string_equal(gantry_image_kind_name(GANTRY_IMAGE_SPIRV), "spirv");
    assert_string_equal(gantry_image_kind_name(GANTRY_IMAGE_HOST), "host");
    assert_string_equal(gantry_image_kind_name((enum gantry_image_kind)0), "unknown");
}

/* ---- Log ------------------------------------------------------------------------------------ */

struct heard {
    int count;
    enum gantry_log_level level;
    char text[64];
};

static void hear(void *user, enum gantry_log_level level, const char *text)
{
    struct heard *heard = user;

    heard->count++;
    heard->level = level;
    snprintf(heard->text, sizeof(heard->text), "%s", text);
}

static void callbacks_get_what_is_severe_enough(void **state)
{
    struct heard heard = {0};
    struct log log = {.callback = hear, .user = &heard, .level = GANTRY_LOG_WARNING};

    (void)state;
    log_write(&log, GANTRY_LOG_INFO, "too fine");
    assert_int_equal(heard.count, 0);
    log_write(&log, GANTRY_LOG_WARNING, "%s %d", "number", 7);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.level, GANTRY_LOG_WARNING);
    assert_string_equal(heard.text, "number 7");
    log_write(&log, GANTRY_LOG_ERROR, "worse");
    assert_int_equal(heard.count, 2);
    log.level = GANTRY_LOG_OFF;
    log_write(&log, GANTRY_LOG_ERROR, "off");
    assert_int_equal(heard.count, 2);
    log_write(NULL, GANTRY_LOG_ERROR, "nowhere");
}

/* What a function prints to standard error. */
static void capture(void (*print)(void), char *text, size_t size)
{
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);

    assert_non_null(file);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    print();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void write_message(void)
{
    const struct log log = {.level = GANTRY_LOG_DEBUG};

    log_write(&log, GANTRY_LOG_INFO, "device %d", 3);
}

static void without_callback_messages_go_to_stderr(void **state)
{
    char text[128];

    (void)state;
    capture(write_message, text, sizeof(text));
    assert_string_equal(text, "gantry: info: device 3\n");
}

static void levels_have_names_and_numbers(void **state)
{
    static const char *const names[] = {"off", "error", "warning", "info", "debug"};
    enum gantry_log_level level;

    (void)state;
    for (int i = 0; i < 5; i++) {
        char number[2] = {(char)('0' + i), '\0'};

        assert_string_equal(log_level_name((enum gantry_log_level)i), names[i]);
        assert_true(log_level_parse(names[i], &level));
        assert_int_equal(level, i);
        assert_true(log_level_parse(number, &level));
        assert_int_equal(level, i);
    }
    assert_true(log_level_parse("Warning", &level));
    assert_false(log_level_parse("5", &level));
    assert_false(log_level_parse("-1", &level));
    assert_false(log_level_parse("11", &level));
    assert_false(log_level_parse("warn", &level));
    assert_false(log_level_parse("", &level));
}

static void the_variable_sets_the_level(void **state)
{
    enum gantry_log_level level;

    (void)state;
    unsetenv("GANTRY_LOG");
    assert_int_equal(log_environment(&level), GANTRY_OK);
    assert_int_equal(level, GANTRY_LOG_OFF);
    setenv("GANTRY_LOG", "", 1);
    assert_int_equal(log_environment(&level), GANTRY_OK);
    assert_int_equal(level, GANTRY_LOG_OFF);
    setenv("GANTRY_LOG", "debug", 1);
    assert_int_equal(log_environment(&level), GANTRY_OK);
    assert_int_equal(level, GANTRY_LOG_DEBUG);
    setenv("GANTRY_LOG", "loud", 1);
    assert_int_equal(log_environment(&level), GANTRY_E_CONFIG);
    assert_contains(gantry_last_error(), "GANTRY_LOG");
    assert_contains(gantry_last_error(), "\"loud\"");
    unsetenv("GANTRY_LOG");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_and_a_text),
        cmocka_unit_test(a_failure_leaves_its_sentence),
        cmocka_unit_test(a_sentence_may_quote_the_one_before),
        cmocka_unit_test(long_sentences_end_in_an_ellipsis),
        cmocka_unit_test(a_cut_leaves_whole_characters),
        cmocka_unit_test(each_thread_has_its_own_sentence),
        cmocka_unit_test(enums_have_names),
        cmocka_unit_test(callbacks_get_what_is_severe_enough),
        cmocka_unit_test(without_callback_messages_go_to_stderr),
        cmocka_unit_test(levels_have_names_and_numbers),
        cmocka_unit_test(the_variable_sets_the_level),
    };

    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
