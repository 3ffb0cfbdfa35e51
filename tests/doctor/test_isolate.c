/* tools/doctor/isolate.c, report.c: what a child finds, also when it does not end well. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../tools/doctor/isolate.h"

static const struct isolation isolation = {.subject = "driver",
                                           .crashed = CODE_CUDA_CRASHED,
                                           .hangs = CODE_CUDA_HANGS,
                                           .seconds = 1};

static const char *text_of(const struct report *report, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(report->findings, i), key));
}

static void find_two(struct report *report, void *context)
{
    report_add(report, &(struct finding){CODE_CUDA_STUB, .subject = context, .why = "a\nb"},
               "number %d", 1);
    report_add(report, &(struct finding){CODE_DEVICE, .subject = "bytes \xff", .remedy = "own"},
               "number\n%d", 2);
}

static void work_that_ends_well(void **state)
{
    struct report report = {json_array(), NULL};

    (void)state;
    assert_true(isolate(&report, &isolation, find_two, "subject"));
    assert_int_equal(json_array_size(report.findings), 2);
    assert_string_equal(text_of(&report, 0, "code"), "CUDA_STUB");
    assert_string_equal(text_of(&report, 0, "subject"), "subject");
    assert_string_equal(text_of(&report, 0, "what"), "number 1");
    assert_string_equal(text_of(&report, 0, "why"), "a\nb");
    assert_non_null(strstr(text_of(&report, 0, "remedy"), "stubs"));
    assert_string_equal(text_of(&report, 1, "subject"), "bytes ?");
    assert_string_equal(text_of(&report, 1, "what"), "number?2");
    assert_string_equal(text_of(&report, 1, "remedy"), "own");
    json_decref(report.findings);
}

static void crash(struct report *report, void *context)
{
    find_two(report, context);
    signal(SIGSEGV, SIG_DFL); /* sanitizers would answer it themselves */
    raise(SIGSEGV);
}

static void leave(struct report *report, void *context)
{
    (void)report;
    (void)context;
    _exit(3);
}

static void work_that_crashes(void **state)
{
    struct report report = {json_array(), NULL};

    (void)state;
    assert_false(isolate(&report, &isolation, crash, "subject"));
    assert_int_equal(json_array_size(report.findings), 3); /* nothing found before is lost */
    assert_string_equal(text_of(&report, 2, "code"), "CUDA_CRASHED");
    assert_non_null(strstr(text_of(&report, 2, "what"), "Segmentation fault"));
    assert_false(isolate(&report, &isolation, leave, NULL));
    assert_string_equal(text_of(&report, 3, "code"), "CUDA_CRASHED");
    json_decref(report.findings);
}

static void hang(struct report *report, void *context)
{
    find_two(report, context);
    for (;;)
        pause();
}

static void work_that_hangs(void **state)
{
    struct report report = {json_array(), NULL};

    (void)state;
    assert_false(isolate(&report, &isolation, hang, "subject"));
    assert_int_equal(json_array_size(report.findings), 3);
    assert_string_equal(text_of(&report, 2, "code"), "CUDA_HANGS");
    assert_non_null(strstr(text_of(&report, 2, "what"), "1 seconds"));
    json_decref(report.findings);
}

/* Some codes count less where a GPU can be used all the same. */
static void severities(void **state)
{
    struct report report = {json_array(), NULL};
    const json_t *missing;

    (void)state;
    report_add(&report, &(struct finding){CODE_VULKAN_LIBRARY_MISSING, .subject = "x"}, "gone");
    missing = json_array_get(report.findings, 0);
    assert_int_equal(report_severity(&report, missing), SEVERITY_ERROR);
    assert_int_equal(report_topic(missing), TOPIC_VULKAN);
    report_add(&report, &(struct finding){CODE_DEVICE, .subject = "x"}, "works");
    assert_int_equal(report_severity(&report, missing), SEVERITY_NOTE);
    assert_true(report_has(&report, CODE_DEVICE));
    assert_false(report_has(&report, CODE_DEVICE_NONE));
    assert_string_equal(severity_text(SEVERITY_WARNING), "warning");
    json_decref(report.findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_that_ends_well),
        cmocka_unit_test(work_that_crashes),
        cmocka_unit_test(work_that_hangs),
        cmocka_unit_test(severities),
    };

    return cmocka_run_group_tests_name("isolate", tests, NULL, NULL);
}
