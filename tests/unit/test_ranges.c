/* Ranges: against a model that looks at every byte of every space, and when memory runs out. */
#include "unit.h"

#include <stdlib.h>

#include "core/ranges.h"

/* The linker sends the core's calls here. */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

static bool no_memory;

void *__wrap_malloc(size_t size)
{
    return no_memory ? NULL : __real_malloc(size);
}

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return random_state >> 8;
}

/* ---- The model ------------------------------------------------------------------------------ */

#define SPACES     6
#define SPACE_SIZE 512

/* A space as an array of bytes: the number of the range that has it, 0: free. */
static struct space {
    bool there;
    uint64_t age;
    uint32_t size;
    uint16_t bytes[SPACE_SIZE];
} spaces[SPACES];

static uint64_t ages;

/* Where best fit must put so many bytes: the smallest free run, then the oldest space, then the
 * lowest offset. False: nowhere. */
struct place {
    const struct space *space;
    uint32_t offset, run;
};

static bool is_better(const struct place *a, const struct place *b)
{
    if (!b->space || a->run != b->run)
        return !b->space || a->run < b->run;
    return a->space->age != b->space->age ? a->space->age < b->space->age : a->offset < b->offset;
}

static uint32_t run_at(const struct space *space, uint32_t offset)
{
    uint32_t run = 0;

    while (offset + run < space->size && space->bytes[offset + run] == 0)
        run++;
    return run;
}

static struct place best_fit(uint32_t size)
{
    struct place best = {0};

    for (int i = 0; i < SPACES; i++) {
        for (uint32_t offset = 0; spaces[i].there && offset < spaces[i].size;) {
            struct place place = {&spaces[i], offset, run_at(&spaces[i], offset)};

            if (place.run >= size && is_better(&place, &best))
                best = place;
            offset += place.run ? place.run : 1;
        }
    }
    return best;
}

static void mark(struct space *space, uint32_t offset, uint32_t size, uint16_t from, uint16_t to)
{
    assert_true(offset + size <= space->size);
    for (uint32_t i = offset; i < offset + size; i++) {
        assert_int_equal(space->bytes[i], from);
        space->bytes[i] = to;
    }
}

/* ---- Both side by side ---------------------------------------------------------------------- */

#define MOST 400

static struct ranges ranges;
static struct range *taken[MOST + 1];

static void check_totals(void)
{
    uint64_t free_bytes = 0, largest = 0;

    for (int i = 0; i < SPACES; i++) {
        for (uint32_t offset = 0; spaces[i].there && offset < spaces[i].size;) {
            uint32_t run = run_at(&spaces[i], offset);

            free_bytes += run;
            largest = run > largest ? run : largest;
            offset += run ? run : 1;
        }
    }
    assert_int_equal(ranges.free, free_bytes);
    assert_int_equal(ranges_largest(&ranges), largest);
}

static void add_space(int i)
{
    spaces[i] = (struct space){true, ages++, 64 + next_random() % (SPACE_SIZE - 63), {0}};
    assert_non_null(ranges_add(&ranges, &spaces[i], spaces[i].size));
}

static void take_one(uint16_t number)
{
    uint32_t size = next_random() % 4 ? 1 + next_random() % 16 : 1 + next_random() % 200;
    struct place place = best_fit(size);
    struct range *range = ranges_find(&ranges, size);

    if (!place.space) {
        assert_null(range);
        return;
    }
    assert_non_null(range);
    assert_ptr_equal(range->space, place.space);
    assert_int_equal(range->offset, place.offset);
    assert_int_equal(range->size, place.run);
    assert_true(ranges_take(&ranges, range, size));
    assert_int_equal(range->offset, place.offset);
    assert_int_equal(range->size, size);
    mark(range->space, place.offset, size, 0, number);
    taken[number] = range;
}

/* The free range that results must be as long as the bytes around it are free. */
static void give_one(uint16_t number)
{
    struct range *range = taken[number];
    struct space *space = range->space;

    mark(space, (uint32_t)range->offset, (uint32_t)range->size, number, 0);
    taken[number] = NULL;
    range = ranges_give(&ranges, range);
    assert_int_equal(range->size, run_at(space, (uint32_t)range->offset));
    assert_true(range->offset == 0 || space->bytes[range->offset - 1] != 0);
    assert_int_equal(range_is_space(range), range->size == space->size);
    if (range_is_space(range) && next_random() % 2) {
        ranges_remove(&ranges, range);
        space->there = false;
    }
}

static void give_all(void)
{
    for (uint16_t i = 1; i <= MOST; i++)
        if (taken[i])
            give_one(i);
    for (int i = 0; i < SPACES; i++) {
        if (!spaces[i].there)
            continue;
        ranges_remove(&ranges, ranges_find(&ranges, spaces[i].size));
        spaces[i].there = false;
    }
    assert_int_equal(ranges.free, 0);
    assert_null(ranges.root);
}

static void as_the_model(void **state)
{
    (void)state;
    for (uint32_t step = 0; step < 60000; step++) {
        uint16_t number = (uint16_t)(1 + next_random() % MOST);
        int space = (int)(next_random() % SPACES);

        if (taken[number])
            give_one(number);
        else if (next_random() % 8)
            take_one(number);
        else if (!spaces[space].there)
            add_space(space);
        if (step % 64 == 0)
            check_totals();
    }
    give_all();
    ranges_close(&ranges);
}

/* ---- By hand -------------------------------------------------------------------------------- */

static void neighbours_become_one(void **state)
{
    struct ranges r = {0};
    struct range *a = ranges_add(&r, NULL, 100), *b, *c;

    (void)state;
    assert_true(ranges_take(&r, a, 10));
    b = ranges_find(&r, 20);
    assert_true(ranges_take(&r, b, 20));
    c = ranges_find(&r, 30);
    assert_true(ranges_take(&r, c, 30));
    assert_int_equal(c->offset, 30);
    assert_int_equal(r.free, 40);
    ranges_give(&r, a);
    assert_ptr_equal(ranges_find(&r, 10), a); /* the smaller hole, not the rest */
    ranges_give(&r, c);
    assert_int_equal(ranges_largest(&r), 70);
    assert_true(range_is_space(ranges_give(&r, b)));
    assert_int_equal(r.free, 100);
    ranges_remove(&r, ranges_find(&r, 100));
    ranges_close(&r);
}

static void sizes_of_64_bits(void **state)
{
    struct ranges r = {0};
    struct range *a = ranges_add(&r, NULL, UINT64_MAX);

    (void)state;
    assert_true(ranges_take(&r, a, UINT64_C(1) << 63));
    a = ranges_find(&r, (UINT64_C(1) << 63) - 1);
    assert_int_equal(a->offset, UINT64_C(1) << 63);
    assert_null(ranges_find(&r, UINT64_C(1) << 63));
    ranges_remove(&r, ranges_give(&r, a->before));
    ranges_close(&r);
}

static void no_memory_changes_nothing(void **state)
{
    struct ranges r = {0};
    struct range *a = ranges_add(&r, NULL, 100);

    (void)state;
    no_memory = true;
    assert_false(ranges_take(&r, a, 10));
    assert_null(ranges_add(&r, NULL, 100));
    assert_ptr_equal(ranges_find(&r, 100), a);
    assert_true(ranges_take(&r, a, 100)); /* needs none */
    no_memory = false;
    ranges_remove(&r, ranges_give(&r, a));
    ranges_close(&r);
}

/* The depth of the tree is that of a search, also when sizes come in order. */
static uint32_t depth(const struct range *range)
{
    uint32_t less, more;

    if (!range)
        return 0;
    less = depth(range->less);
    more = depth(range->more);
    return 1 + (less > more ? less : more);
}

static void the_tree_stays_flat(void **state)
{
    struct ranges r = {0};

    (void)state;
    for (uint64_t size = 1; size <= 10000; size++)
        assert_non_null(ranges_add(&r, NULL, size));
    assert_true(depth(r.root) < 50);
    for (uint64_t size = 1; size <= 10000; size++)
        ranges_remove(&r, ranges_find(&r, size));
    assert_null(r.root);
    ranges_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_model),        cmocka_unit_test(neighbours_become_one),
        cmocka_unit_test(sizes_of_64_bits),    cmocka_unit_test(no_memory_changes_nothing),
        cmocka_unit_test(the_tree_stays_flat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
