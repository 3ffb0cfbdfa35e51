/* core/plugin*.c, core/places.c: where plugins are looked for, and what is said of those that can't
 * be used. Tests named cNN are failures that have been seen in other programs. */
#include "unit.h"

#include <elf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/plugin.h"
#include "machine.h"
#include "scratch.h"

/* ---- Descriptors --------------------------------------------------------------------------- */

static void check_descriptor(const struct gantry_backend *backend, const char *part)
{
    struct text why = {0};

    assert_int_not_equal(plugin_check(backend, "good", &why), GANTRY_ATTEMPT_LOADED);
    assert_contains(text_get(&why), part);
    text_free(&why);
}

static void test_descriptors(void **state)
{
    struct gantry_backend_ops ops = {.size = sizeof(ops)};
    const struct gantry_backend good = {
        .magic = GANTRY_BACKEND_MAGIC,
        .abi_major = GANTRY_BACKEND_ABI_MAJOR,
        .abi_minor = GANTRY_BACKEND_ABI_MINOR,
        .size = sizeof(good),
        .name = "good",
        .version = "1",
        .ops = &ops,
    };
    struct gantry_backend backend = good;

    (void)state;
    check_descriptor(&backend, "lacks the mandatory entry instance_open");
    backend.magic = 7;
    check_descriptor(&backend, "magic 0x00000007");
    backend = good;
    backend.abi_major = 9;
    check_descriptor(&backend, "ABI 9.0, this gantry needs 2.x");
    backend = good;
    backend.size = 8;
    check_descriptor(&backend, "descriptor of 8 bytes");
    backend = good;
    backend.name = "other";
    check_descriptor(&backend, "calls itself \"other\", its file's name says \"good\"");
    backend = good;
    backend.ops = NULL;
    check_descriptor(&backend, "without a table");
    backend = good;
    ops.size = 16;
    check_descriptor(&backend, "table of 16 bytes");
}

static void test_names(void **state)
{
    (void)state;
    assert_true(plugin_name_valid("cuda"));
    assert_true(plugin_name_valid("my-backend_2"));
    assert_false(plugin_name_valid(""));
    assert_false(plugin_name_valid("2d"));
    assert_false(plugin_name_valid("../cuda"));
    assert_false(plugin_name_valid("CUDA"));
    assert_false(plugin_name_valid("a234567890123456789012345678901x"));
}

/* ---- Files --------------------------------------------------------------------------------- */

static struct gantry_backend_info find(struct gantry *g, const char *name)
{
    struct gantry_backend_info info;

    for (uint32_t i = 0; i < gantry_backend_count(g); i++) {
        assert_int_equal(gantry_backend_describe(g, i, &info), GANTRY_OK);
        if (strcmp(info.name, name) == 0)
            return info;
    }
    print_error("no backend %s is listed\n", name);
    _fail(__FILE__, __LINE__);
    return info;
}

static struct gantry *open_with(const char *backends, const char *plugin_path)
{
    const struct gantry_params params = {.plugin_path = plugin_path};
    struct gantry *g;

    setenv("GANTRY_BACKEND", backends, 1);
    assert_int_equal(gantry_open(&params, &g), GANTRY_OK);
    return g;
}

/* What became of the first place where a backend was looked for. */
static struct gantry_backend_attempt first_attempt(struct gantry *g, const char *name)
{
    struct gantry_backend_attempt attempt = {0};
    struct gantry_backend_info info;

    for (uint32_t i = 0; i < gantry_backend_count(g); i++) {
        assert_int_equal(gantry_backend_describe(g, i, &info), GANTRY_OK);
        if (strcmp(info.name, name) == 0)
            assert_int_equal(gantry_backend_attempt(g, i, 0, &attempt), GANTRY_OK);
    }
    assert_non_null(attempt.path);
    return attempt;
}

/* C39: the reason of a failed load is never hidden, and told apart. */
static void test_c39_reasons(void **state)
{
    static const struct {
        const char *name, *part;
        enum gantry_attempt_outcome outcome;
    } cases[] = {
        {"magic", "0x12345678", GANTRY_ATTEMPT_REFUSED},
        {"abi", "ABI 99.0, this gantry needs 2.x", GANTRY_ATTEMPT_WRONG_ABI},
        {"size", "descriptor of 16 bytes", GANTRY_ATTEMPT_REFUSED},
        {"table", "table of 16 bytes", GANTRY_ATTEMPT_REFUSED},
        {"entry", "mandatory entry instance_open", GANTRY_ATTEMPT_REFUSED},
        {"name", "calls itself \"nobody\"", GANTRY_ATTEMPT_REFUSED},
        {"descriptor", "exports no descriptor gantry_backend", GANTRY_ATTEMPT_NO_DESCRIPTOR},
        {"dependency", "libgantry-not-there.so.9", GANTRY_ATTEMPT_MISSING_DEPENDENCY},
        {"undefined", "gantry_test_symbol_that_nobody_defines", GANTRY_ATTEMPT_MISSING_DEPENDENCY},
        {"text", "has no ELF header", GANTRY_ATTEMPT_NOT_A_LIBRARY},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gantry *g = open_with(cases[i].name, machine_folder("tests/plugins/bad"));
        struct gantry_backend_info info = find(g, cases[i].name);
        struct gantry_backend_attempt attempt = first_attempt(g, cases[i].name);

        assert_false(info.loaded);
        assert_non_null(info.path);
        assert_contains(info.reason, cases[i].part);
        assert_contains(info.reason, "tests/plugins/bad/gantry-");
        assert_int_equal(attempt.outcome, cases[i].outcome);
        assert_contains(attempt.path, "tests/plugins/bad/gantry-");
        assert_contains(attempt.text, cases[i].part);
        gantry_close(&g);
    }
}

/* The head of a library of this machine, whose file then ends; the same for others. */
static void test_c39_damaged_and_foreign_libraries(void **state)
{
    static const struct {
        size_t at;
        char byte;
        const char *part;
    } cases[] = {
        {0, 0, "can't be loaded"},
        {EI_CLASS, ELFCLASS32, "another processor (32 bits"},
        {offsetof(Elf64_Ehdr, e_machine), 8, "ELF machine 8;"},
        {offsetof(Elf64_Ehdr, e_type), ET_EXEC, "another kind of ELF file"},
    };
    char head[256];
    FILE *file = fopen(machine_folder("tests/plugins/twins/.libs/gantry-cuda.so"), "rb");

    (void)state;
    assert_non_null(file);
    assert_int_equal(fread(head, 1, sizeof(head), file), sizeof(head));
    fclose(file);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char before = head[cases[i].at];
        struct gantry_backend_attempt attempt;
        struct gantry *g;

        if (cases[i].at)
            head[cases[i].at] = cases[i].byte;
        scratch_write_bytes("damaged/gantry-damaged.so", head, sizeof(head));
        head[cases[i].at] = before;
        g = open_with("damaged", scratch_path("damaged"));
        attempt = first_attempt(g, "damaged");
        assert_int_equal(attempt.outcome, GANTRY_ATTEMPT_NOT_A_LIBRARY);
        assert_contains(attempt.text, cases[i].part);
        gantry_close(&g);
    }
}

static void test_attempts(void **state)
{
    struct gantry_backend_attempt attempt;
    struct gantry_backend_info info;
    struct gantry *g;
    char path[2048];

    (void)state;
    scratch_write("first/gantry-cuda.so", "not a library");
    snprintf(path, sizeof(path), "%s:/missing:%s", scratch_path("first"),
             machine_folder("tests/plugins/twins/.libs"));
    g = open_with("cuda", path);
    assert_int_equal(gantry_backend_describe(g, 0, &info), GANTRY_OK);
    assert_int_equal(gantry_backend_attempt_count(g, 0),
                     3); /* none after the one that was loaded */
    assert_int_equal(gantry_backend_attempt(g, 0, 0, &attempt), GANTRY_OK);
    assert_int_equal(attempt.outcome, GANTRY_ATTEMPT_NOT_A_LIBRARY);
    assert_int_equal(gantry_backend_attempt(g, 0, 1, &attempt), GANTRY_OK);
    assert_int_equal(attempt.outcome, GANTRY_ATTEMPT_MISSING);
    assert_string_equal(attempt.path, "/missing/gantry-cuda.so");
    assert_contains(attempt.text, "no such folder");
    assert_int_equal(gantry_backend_attempt(g, 0, 2, &attempt), GANTRY_OK);
    assert_int_equal(attempt.outcome, GANTRY_ATTEMPT_LOADED);
    assert_string_equal(attempt.path, info.path);
    assert_string_equal(attempt.text, "");
    assert_int_equal(gantry_backend_attempt_count(g, 1), 0); /* vulkan, which nobody named */
    assert_int_equal(gantry_backend_attempt(g, 0, 3, &attempt), GANTRY_E_INVALID_ARGUMENT);
    assert_contains(gantry_last_error(), "attempt 3 of backend cuda is not below the count of 3");
    assert_int_equal(gantry_backend_attempt(g, 9, 0, &attempt), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_backend_attempt(g, 0, 0, NULL), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_backend_attempt(NULL, 0, 0, &attempt), GANTRY_E_INVALID_ARGUMENT);
    assert_int_equal(gantry_backend_attempt_count(NULL, 0), 0);
    assert_string_equal(gantry_attempt_name(GANTRY_ATTEMPT_WRONG_ABI), "WRONG_ABI");
    gantry_close(&g);
}

static void test_c39_unreadable_and_folders(void **state)
{
    const char *file = scratch_write("closed/gantry-closed.so", "x");
    const char *folder = scratch_path("closed");
    struct gantry *g;

    (void)state;
    chmod(file, 0);
    g = open_with("closed", folder);
    if (geteuid() != 0) /* root may read everything */
        assert_contains(find(g, "closed").reason, "Permission denied");
    assert_false(find(g, "closed").loaded);
    gantry_close(&g);
    remove(file);
    assert_int_equal(mkdir(file, 0700), 0);
    g = open_with("closed", folder);
    assert_contains(find(g, "closed").reason, "is not a file");
    gantry_close(&g);
}

/* A file that can't be used does not hide a good one in a later folder. */
static void test_later_folder(void **state)
{
    struct gantry_backend_info info;
    struct gantry *g;
    char path[2048];

    (void)state;
    scratch_write("first/gantry-cuda.so", "not a library");
    snprintf(path, sizeof(path), "%s:/missing:%s", scratch_path("first"),
             machine_folder("tests/plugins/twins/.libs"));
    g = open_with("cuda", path);
    info = find(g, "cuda");
    assert_true(info.loaded);
    assert_contains(info.path, "twins/.libs/gantry-cuda.so");
    assert_non_null(info.version);
    assert_int_equal(info.device_count, 1);
    gantry_close(&g);
}

/* ---- Places -------------------------------------------------------------------------------- */

/* C38: every place is named; the folder of the program that holds gantry, its subfolder and the
 * installation are among them, the current directory never is. */
static void test_c38_places(void **state)
{
    char *before = getcwd(NULL, 0);
    const char *reason;
    struct gantry *g;

    (void)state;
    assert_int_equal(chdir(machine_folder("tests/plugins/twins/.libs")), 0);
    setenv("GANTRY_PLUGIN_PATH", "/one:/two", 1);
    g = open_with("cuda", "/zero");
    reason = find(g, "cuda").reason;
    assert_false(find(g, "cuda").loaded);
    assert_null(find(g, "cuda").path);
    assert_contains(reason, "/zero/gantry-cuda.so (gantry_params.plugin_path) is not there");
    assert_contains(reason, "/one/gantry-cuda.so (environment GANTRY_PLUGIN_PATH) is not there");
    assert_contains(reason, "/two/gantry-cuda.so");
    assert_contains(reason, "/gantry/gantry-cuda.so (libgantry's folder)");
    assert_contains(reason, GANTRY_PKGLIBDIR "/gantry-cuda.so (the installation)");
    assert_true(strstr(reason, "/zero") < strstr(reason, "/one"));
    assert_true(strstr(reason, "/one") < strstr(reason, "/two"));
    assert_true(strstr(reason, "/two") < strstr(reason, "(libgantry's folder)"));
    gantry_close(&g);
    assert_int_equal(chdir(before), 0);
    free(before);
}

static void test_c38_relative_folders(void **state)
{
    struct gantry_params params = {.plugin_path = "/one:two"};
    struct gantry *g = (void *)1;

    (void)state;
    assert_int_equal(gantry_open(&params, &g), GANTRY_E_INVALID_ARGUMENT);
    assert_null(g);
    assert_contains(gantry_last_error(), "\"two\" is relative");
    params.plugin_path = "";
    setenv("GANTRY_PLUGIN_PATH", "./here", 1);
    assert_int_equal(gantry_open(&params, &g), GANTRY_E_CONFIG);
    assert_contains(gantry_last_error(), "GANTRY_PLUGIN_PATH");
    setenv("GANTRY_PLUGIN_PATH", "", 1);
    assert_int_equal(gantry_open(&params, &g), GANTRY_OK);
    gantry_close(&g);
}

static void test_others_are_listed(void **state)
{
    struct gantry *g = open_with("cuda", machine_folder("tests/plugins/twins/.libs"));

    (void)state;
    assert_true(find(g, "cuda").loaded);
    assert_false(find(g, "vulkan").loaded);
    assert_contains(find(g, "vulkan").reason, "does not name it");
    assert_contains(find(g, "vulkan").reason, "GANTRY_BACKEND");
    gantry_close(&g);
}

/* C09: a failed probe can be repeated, and leaves no trace in the error text of a call that
 * succeeded. */
static void test_c09_failed_probe(void **state)
{
    struct gantry_backend_info info;
    struct gantry *g;

    (void)state;
    assert_int_equal(gantry_open(NULL, NULL), GANTRY_E_INVALID_ARGUMENT);
    setenv("GANTRY_HOST_FAIL_CUDA", "instance_open:1:E_NO_DEVICE", 1);
    g = open_with("cuda", machine_folder("tests/plugins/twins/.libs"));
    info = find(g, "cuda");
    assert_true(info.loaded);
    assert_int_equal(info.device_count, 0);
    assert_non_null(info.reason);
    assert_contains(gantry_last_error(), "handle's address");
    gantry_close(&g);
    unsetenv("GANTRY_HOST_FAIL_CUDA");
    g = open_with("cuda", machine_folder("tests/plugins/twins/.libs"));
    assert_int_equal(find(g, "cuda").device_count, 1);
    assert_null(find(g, "cuda").reason);
    gantry_close(&g);
}

/* Two gantries of a process share a plugin's instance, which the contract allows to be opened once.
 */
static void test_shared_instance(void **state)
{
    struct gantry *a, *b;
    struct gantry_device *device;

    (void)state;
    a = open_with("cuda", machine_folder("tests/plugins/twins/.libs"));
    b = open_with("cuda", machine_folder("tests/plugins/twins/.libs"));
    gantry_close(&a);
    assert_int_equal(gantry_device_open(b, NULL, &device), GANTRY_OK);
    gantry_device_close(&device);
    gantry_close(&b);
}

static void test_bad_names(void **state)
{
    struct gantry *g;

    (void)state;
    setenv("GANTRY_BACKEND", "cuda, ../evil", 1);
    assert_int_equal(gantry_open(NULL, &g), GANTRY_E_CONFIG);
    assert_null(g);
    assert_contains(gantry_last_error(), "evil");
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, open_files, scratch_close)
#define PLAIN(test)      cmocka_unit_test_setup(test, machine_reset)

static int open_files(void **state)
{
    return machine_reset(state) || scratch_open(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAIN(test_descriptors),
        PLAIN(test_names),
        PLAIN(test_c39_reasons),
        WITH_FILES(test_c39_damaged_and_foreign_libraries),
        WITH_FILES(test_c39_unreadable_and_folders),
        WITH_FILES(test_attempts),
        WITH_FILES(test_later_folder),
        PLAIN(test_c38_places),
        PLAIN(test_c38_relative_folders),
        PLAIN(test_others_are_listed),
        PLAIN(test_c09_failed_probe),
        PLAIN(test_shared_instance),
        PLAIN(test_bad_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
