/* Memory of the configuration's reader: arenas, kept lists, and running out of it. */
#include "unit.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/interned.h"
#include "policy_rig.h"

/* ---- Allocations that fail ------------------------------------------------------------------ */

/* The linker sends the core's calls here. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

static int until_failure = -1; /* allocations that still succeed; -1: all */

static bool fails_now(void)
{
    if (until_failure < 0)
        return false;
    return until_failure == 0 || until_failure-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

/* ---- Arenas --------------------------------------------------------------------------------- */

static void memory_is_zeroed_and_aligned(void **state)
{
    struct arena arena = {0};

    (void)state;
    for (size_t size = 1; size < 20000; size = size * 3 + 1) {
        unsigned char *memory = arena_allocate(&arena, size);

        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
    }
    assert_null(arena_allocate(&arena, SIZE_MAX));
    assert_true(arena.failed);
    arena_release(&arena);
    assert_false(arena.failed);
}

static void arrays_keep_what_they_hold(void **state)
{
    struct arena arena = {0};
    uint32_t *items = NULL;

    (void)state;
    for (uint32_t count = 0; count < 5000; count++) {
        items = arena_extend(&arena, items, count, sizeof(*items));
        assert_non_null(items);
        items[count] = count;
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(items[i], i);
    arena_release(&arena);
}

static void texts_are_copied_and_formatted(void **state)
{
    struct arena arena = {0};
    char big[10001];

    (void)state;
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    assert_string_equal(arena_copy(&arena, "abcdef", 3), "abc");
    assert_string_equal(arena_copy(&arena, "", 0), "");
    assert_string_equal(arena_format(&arena, "%s:%d", "f", 7), "f:7");
    assert_string_equal(arena_format(&arena, "%s", big), big);
    arena_release(&arena);
}

static void a_failure_is_remembered(void **state)
{
    struct arena arena = {0};

    (void)state;
    until_failure = 0;
    assert_null(arena_copy(&arena, "abc", 3));
    until_failure = -1;
    assert_true(arena.failed);
    assert_non_null(arena_copy(&arena, "abc", 3));
    assert_true(arena.failed);
    arena_release(&arena);
}

/* ---- Kept lists ----------------------------------------------------------------------------- */

static void equal_lists_are_kept_once(void **state)
{
    static const char *const texts[] = {"a", "b", "c"};
    const char *two[] = {texts[0], texts[1]}, *other[] = {texts[0], texts[2]};
    struct interned interned;
    const char *const *first, *const *second;

    (void)state;
    interned_init(&interned);
    first = interned_get(&interned, two, 2);
    assert_non_null(first);
    assert_ptr_equal(first[1], texts[1]);
    second = interned_get(&interned, other, 2);
    assert_ptr_not_equal(first, second);
    assert_ptr_not_equal(interned_get(&interned, two, 1), first);
    assert_ptr_equal(interned_get(&interned, two, 2), first);
    assert_ptr_equal(interned_get(&interned, other, 2), second);
    assert_non_null(interned_get(&interned, two, 0));
    interned_release(&interned);
}

/* ---- The policy ----------------------------------------------------------------------------- */

static void opening_survives_every_failure(void **state)
{
    enum gantry_status status = GANTRY_E_OUT_OF_HOST_MEMORY;
    char text[6000] = "[policy]\n";
    int failures = 0;

    (void)state;
    while (strlen(text) < sizeof(text) - 40)
        strcat(text, "block_size.edge = 16x16 ; again\n");
    rig.params.config_text = text;
    rig.params.log = NULL;
    for (; status != GANTRY_OK; failures++) {
        until_failure = failures;
        status = rig_try();
        until_failure = -1;
        assert_true(status == GANTRY_OK || status == GANTRY_E_OUT_OF_HOST_MEMORY);
        assert_int_equal(rig.policy != NULL, status == GANTRY_OK);
        if (status != GANTRY_OK)
            assert_contains(gantry_last_error(), "out of host memory");
    }
    assert_true(failures > 5);
}

static void asking_survives_a_failure(void **state)
{
    struct gantry_config_value value;

    (void)state;
    rig_read();
    until_failure = 0;
    assert_int_equal(policy_value(rig.policy, &h200, 0, &value), GANTRY_E_OUT_OF_HOST_MEMORY);
    until_failure = 1;
    assert_int_equal(policy_value(rig.policy, &h200, 0, &value), GANTRY_E_OUT_OF_HOST_MEMORY);
    until_failure = -1;
    assert_int_equal(policy_value(rig.policy, &h200, 0, &value), GANTRY_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(arrays_keep_what_they_hold),
        cmocka_unit_test(texts_are_copied_and_formatted),
        cmocka_unit_test(a_failure_is_remembered),
        cmocka_unit_test(equal_lists_are_kept_once),
        cmocka_unit_test_setup_teardown(opening_survives_every_failure, rig_open, rig_close),
        cmocka_unit_test_setup_teardown(asking_survives_a_failure, rig_open, rig_close),
    };

    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
