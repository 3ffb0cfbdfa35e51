/* Buffers: their sizes, contents, addresses, and what happens when there is no memory left. */
#include <string.h>

#include "conform.h"

static void refused_sizes(struct conform *c)
{
    struct gantry_buffer_params params = {.size = 0};
    struct gantry_buffer *buffer;

    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_buffer_create(c->device, &params, &buffer));
    CHECK(!buffer, "a failed create left a handle");
    EXPECT(GANTRY_E_INVALID_ARGUMENT, gantry_buffer_create(c->device, NULL, &buffer));
    if (c->info.limits.max_buffer_size == UINT64_MAX)
        return;
    params.size = c->info.limits.max_buffer_size + 1;
    EXPECT(GANTRY_E_LIMIT, gantry_buffer_create(c->device, &params, &buffer));
    params.size = UINT64_MAX;
    EXPECT(GANTRY_E_LIMIT, gantry_buffer_create(c->device, &params, &buffer));
}

static void odd_sizes(struct conform *c)
{
    static const uint64_t sizes[] = {1, 2, 3, 5, 63, 64, 65, 255, 257, 4095, 4097, 65537, 1000003};
    uint8_t *data = make_words(c, 1000003), *back = make_words(c, 1000003);

    for (size_t i = 0; i < 1000003; i++)
        data[i] = (uint8_t)(i * 7 + 3);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct gantry_buffer *buffer = make_buffer(c, sizes[i]);

        CHECK(gantry_buffer_size(buffer) == sizes[i], "a buffer of %llu bytes says %llu",
              (unsigned long long)sizes[i], (unsigned long long)gantry_buffer_size(buffer));
        CHECK(gantry_buffer_address(buffer) % 256 == 0, "address 0x%llx is no multiple of 256",
              (unsigned long long)gantry_buffer_address(buffer));
        write_buffer(c, buffer, 0, data, sizes[i]);
        read_buffer(c, buffer, 0, back, sizes[i]);
        CHECK(memcmp(data, back, sizes[i]) == 0, "%llu bytes came back changed",
              (unsigned long long)sizes[i]);
    }
}

static void fresh_contents(struct conform *c)
{
    static const uint64_t sizes[] = {1, 3, 257, 4096, 100001};
    uint8_t *data = make_words(c, 100001);

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int kind = GANTRY_MEMORY_DEVICE; kind <= GANTRY_MEMORY_READBACK; kind++) {
            struct gantry_buffer *buffer = make_memory(c, kind, sizes[i]);

            memset(data, 0xab, sizes[i]);
            write_buffer(c, buffer, 0, data, sizes[i]);
            drop_buffer(c, buffer);
            buffer = make_memory(c, kind, sizes[i]);
            read_buffer(c, buffer, 0, data, sizes[i]);
            for (uint64_t k = 0; k < sizes[i]; k++)
                CHECK(data[k] == 0, "byte %llu of %llu is %u in a zeroed buffer of kind %d",
                      (unsigned long long)k, (unsigned long long)sizes[i], data[k], kind);
        }
}

static void host_views(struct conform *c)
{
    struct gantry_buffer *device = make_buffer(c, 4096);
    struct gantry_buffer *up = make_memory(c, GANTRY_MEMORY_UPLOAD, 4096);
    struct gantry_buffer *down = make_memory(c, GANTRY_MEMORY_READBACK, 4096);
    struct gantry_list *list = make_list(c);
    uint32_t *in = gantry_buffer_host(up), *out = gantry_buffer_host(down);

    CHECK(!gantry_buffer_host(device), "device memory has a host address");
    CHECK(in && out, "upload or readback memory has no host address");
    for (uint32_t i = 0; i < 1024; i++)
        in[i] = i * i + 1;
    RECORD(gantry_list_copy(list, device, 0, up, 0, 4096));
    RECORD(gantry_list_copy(list, down, 0, device, 0, 4096));
    finish(c, list);
    submit_and_wait(c, list);
    EQUAL(out, in, 1024);
    for (uint32_t i = 0; i < 1024; i++)
        in[i] += 5;
    submit_and_wait(c, list);
    EQUAL(out, in, 1024);
}

static void nothing_of_nothing(struct conform *c)
{
    struct gantry_buffer *none = NULL;

    (void)c;
    CHECK(gantry_buffer_address(NULL) == 0, "NULL has an address");
    CHECK(!gantry_buffer_host(NULL), "NULL has a host address");
    CHECK(gantry_buffer_size(NULL) == 0, "NULL has a size");
    gantry_buffer_destroy(NULL);
    gantry_buffer_destroy(&none);
}

static void many_small_ones(struct conform *c)
{
    struct gantry_buffer *buffers[300];
    uint32_t values[300], found[300], sums[300];

    for (uint32_t i = 0; i < 300; i++) {
        buffers[i] = make_buffer(c, 4 + i);
        values[i] = i * 2654435761u;
        write_buffer(c, buffers[i], 0, &values[i], 4);
    }
    for (uint32_t i = 0; i < 300; i++) {
        read_buffer(c, buffers[i], 0, &found[i], 4);
        sums[i] = values[i];
    }
    EQUAL(found, sums, 300);
}

/* ---- No memory left ------------------------------------------------------------------------- */

static void check_usable(struct conform *c, struct gantry_buffer *old)
{
    uint32_t word = 0xfeedbeef, back = 0;

    write_buffer(c, old, 0, &word, 4);
    read_buffer(c, old, 0, &back, 4);
    CHECK(back == word, "after a refused buffer an old one holds 0x%x instead of 0x%x", back, word);
}

static void too_large_a_request(struct conform *c)
{
    const struct gantry_limits *l = &c->info.limits;
    struct gantry_buffer *old = make_buffer(c, 4), *buffer;
    struct gantry_buffer_params params = {.size = l->memory_size + (l->memory_size >> 3)};
    bool over = params.size > l->max_buffer_size;

    for (int i = 0; i < 200; i++)
        EXPECT(over ? GANTRY_E_LIMIT : GANTRY_E_OUT_OF_MEMORY,
               gantry_buffer_create(c->device, &params, &buffer));
    check_usable(c, old);
}

static void until_nothing_is_left(struct conform *c)
{
    struct gantry_buffer_params params = {.size = c->info.limits.memory_size / 8};
    struct gantry_buffer *buffers[32] = {0}, *old = make_buffer(c, 4);
    enum gantry_status status = GANTRY_OK;
    uint32_t count = 0;

    if (!c->options->big)
        skip(c, "fills all of the device's memory; run with --big");
    if (c->info.type == GANTRY_DEVICE_CPU)
        skip(c, "a CPU device's memory is the machine's, and taking all of it ends other programs");
    if (params.size > c->info.limits.max_buffer_size)
        params.size = c->info.limits.max_buffer_size;
    while (count < 32 && status == GANTRY_OK) {
        status = gantry_buffer_create(c->device, &params, &buffers[count]);
        count += status == GANTRY_OK;
    }
    CHECK(status == GANTRY_E_OUT_OF_MEMORY, "%u buffers were made, then %s: %s", count,
          gantry_status_name(status), gantry_last_error());
    check_usable(c, old);
    gantry_buffer_destroy(&buffers[--count]);
    OK(gantry_buffer_create(c->device, &params, &buffers[count]));
    for (uint32_t i = 0; i <= count; i++)
        gantry_buffer_destroy(&buffers[i]);
    check_usable(c, old);
}

const struct conform_case memory_cases[] = {
    {"memory/refused-sizes", "C20 C21", refused_sizes},
    {"memory/odd-sizes", NULL, odd_sizes},
    {"memory/fresh-contents", "C27", fresh_contents},
    {"memory/host-views", NULL, host_views},
    {"memory/nothing-of-nothing", "C21", nothing_of_nothing},
    {"memory/many-small-ones", "C23", many_small_ones},
    {"memory/too-large-a-request", "C24", too_large_a_request},
    {"memory/until-nothing-is-left", "C24", until_nothing_is_left},
    {0},
};
