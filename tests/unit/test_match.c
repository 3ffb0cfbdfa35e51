/* Selectors against devices. Tests named cNN are failures that have been seen in other programs. */
#include "unit.h"

#include "core/match.h"

/* An NVIDIA GPU of that name. */
static struct policy_subject gpu(const char *name)
{
    return (struct policy_subject){
        .name = name,
        .uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef",
        .pci = "0000:0a:00.0",
        .arch = "sm_89",
        .vendor_id = 0x10de,
        .type = GANTRY_DEVICE_DISCRETE,
        .backend = "cuda",
    };
}

static bool selects(const char *selector, const char *name)
{
    struct policy_subject subject = gpu(name);

    return policy_selects(selector, &subject);
}

static struct selector parsed(const char *text)
{
    struct selector selector;
    char why[256] = "";

    if (!selector_parse(text, &selector, why, sizeof(why))) {
        print_error("\"%s\" is refused: %s\n", text, why);
        _fail(__FILE__, __LINE__);
    }
    return selector;
}

static uint32_t rank(const char *text)
{
    struct selector selector = parsed(text);

    return selector_rank(&selector);
}

static void check_refused(const char *text, const char *part)
{
    struct selector selector;
    char why[256] = "";

    if (selector_parse(text, &selector, why, sizeof(why))) {
        print_error("\"%s\" is taken\n", text);
        _fail(__FILE__, __LINE__);
    }
    assert_contains(why, part);
}

/* ---- C49 ------------------------------------------------------------------------------------ */

static void c49_one_gpu_has_many_names(void **state)
{
    static const char *const names[] = {
        "NVIDIA GeForce RTX 4060",        "GeForce RTX 4060",
        "nvidia geforce rtx 4060",        "NVIDIA  GeForce   RTX 4060 ",
        "NVIDIA GeForce(R) RTX(TM) 4060", "NVIDIA GeForce RTX 4060 (NVK AD107)",
        "NVIDIA GeForce® RTX™ 4060",      "NVIDIA Corporation GeForce RTX 4060",
    };
    static const char *const rules[] = {"RTX 4060", "GeForce RTX 4060", "NVIDIA GeForce RTX 4060",
                                        "nvidia rtx  4060", "NVIDIA GeForce RTX 4060 (any driver)"};

    (void)state;
    for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
        for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++) {
            if (!selects(rules[r], names[n]))
                print_error("[gpu %s] misses \"%s\"\n", rules[r], names[n]);
            assert_true(selects(rules[r], names[n]));
        }
        assert_false(selects("RTX 4060 Ti", names[n]));
        assert_false(selects("RTX 4060 Laptop GPU", names[n]));
        assert_false(selects("RTX 406", names[n]));
    }
}

static void c49_a_short_name_is_that_model_alone(void **state)
{
    static const char ti[] = "NVIDIA GeForce RTX 4060 Ti";
    static const char laptop[] = "NVIDIA GeForce RTX 4060 Laptop GPU";

    (void)state;
    assert_false(selects("RTX 4060", ti));
    assert_false(selects("RTX 4060", laptop));
    assert_true(selects("RTX 4060 Ti", ti));
    assert_true(selects("RTX 4060 Laptop GPU", laptop));
    assert_true(selects("RTX 4060*", ti));
    assert_true(selects("RTX 4060*", laptop));
    assert_true(selects("RTX 4060*", "NVIDIA GeForce RTX 4060"));
    assert_false(selects("RTX 4060 *", "NVIDIA GeForce RTX 4060"));
}

static void c49_radeon(void **state)
{
    static const char *const names[] = {"AMD Radeon(TM) 8060S Graphics (RADV GFX1151)",
                                        "AMD Radeon 8060S", "amd radeon 8060s graphics"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_true(selects("Radeon 8060S", names[i]));
        assert_true(selects("AMD Radeon(TM) 8060S Graphics", names[i]));
        assert_true(selects("Radeon*", names[i]));
        assert_false(selects("8060S", names[i]));
        assert_false(selects("Radeon 8050S", names[i]));
    }
    assert_true(selects("llvmpipe", "llvmpipe (LLVM 15.0.6, 256 bits)"));
    assert_true(selects("UHD Graphics 620", "Intel(R) UHD Graphics 620 (KBL GT2)"));
}

/* A vendor's word counts where it is all that a pattern has. */
static void vendor_words_do_not_widen_a_pattern(void **state)
{
    (void)state;
    assert_true(selects("NVIDIA *", "NVIDIA H200"));
    assert_false(selects("NVIDIA *", "AMD Radeon 8060S"));
    assert_true(selects("GeForce *", "NVIDIA GeForce RTX 4060"));
    assert_true(selects("GeForce*", "NVIDIA GeForce RTX 4060"));
    assert_false(selects("GeForce *", "NVIDIA H200"));
    assert_true(selects("NVIDIA GeForce *", "NVIDIA GeForce RTX 4060"));
    assert_true(selects("NVIDIA RTX 40*", "NVIDIA GeForce RTX 4060"));
    assert_true(selects("GeForce RTX 40*", "NVIDIA GeForce RTX 4060"));
    assert_true(selects("*GeForce*", "NVIDIA GeForce RTX 4060"));
    assert_true(selects("Intel", "Intel(R) Graphics"));
}

static void only_star_and_question_mark_are_special(void **state)
{
    (void)state;
    assert_true(selects("H?00", "NVIDIA H200"));
    assert_false(selects("H?00", "NVIDIA H2000"));
    assert_false(selects("H?200", "NVIDIA H200"));
    assert_true(selects("H*200*", "NVIDIA H200"));
    assert_true(selects("*2*0", "NVIDIA H200"));
    assert_true(selects("Tesla ?1?", "Tesla [1]"));
    assert_true(selects("a.c", "a.c"));
    assert_false(selects("a.c", "abc"));
    assert_false(selects("H[0-9]00", "NVIDIA H200"));
    assert_true(selects("*aab", "aaaaaaaaaaaaaaaaaaaaaaaab"));
    assert_false(selects("*a*a*a*a*a*c", "aaaaaaaaaaaaaaaaaaaaaaaab"));
}

/* ---- C04: identities ------------------------------------------------------------------------ */

static bool selects_pci(const char *selector, const char *pci)
{
    struct policy_subject subject = gpu("x");

    subject.pci = pci;
    return policy_selects(selector, &subject);
}

static void c04_pci_addresses_are_normalised(void **state)
{
    (void)state;
    assert_true(selects_pci("pci:0000:0a:00.0", "0000:0a:00.0"));
    assert_true(selects_pci("pci:0000:0A:00.0", "0000:0a:00.0"));
    assert_true(selects_pci("PCI:00000000:0a:00.0", "0000:0A:00.0"));
    assert_true(selects_pci("pci:0a:00.0", "0000:0a:00.0"));
    assert_true(selects_pci("pci:0001:01:00.0", "00000001:01:00.0"));
    assert_false(selects_pci("pci:0001:01:00.0", "0000:01:00.0"));
    assert_false(selects_pci("pci:0000:01:00.1", "0000:01:00.0"));
    assert_false(selects_pci("pci:0000:01:00.0", NULL));
    assert_false(selects_pci("pci:0000:00:00.0", ""));
    check_refused("pci:", "pci:DOMAIN:BUS");
    check_refused("pci:0000:01:00", "pci:DOMAIN:BUS");
    check_refused("pci:0000:01:00.0x", "pci:DOMAIN:BUS");
    check_refused("pci:000000000:01:00.0", "pci:DOMAIN:BUS");
    check_refused("pci:zz:00.0", "pci:DOMAIN:BUS");
}

static void uuids_are_whole_and_never_empty(void **state)
{
    struct policy_subject subject = gpu("x");

    (void)state;
    assert_true(policy_selects("uuid:GPU-01234567-89ab-cdef-0123-456789abcdef", &subject));
    assert_true(policy_selects("uuid:01234567-89AB-CDEF-0123-456789ABCDEF", &subject));
    assert_false(policy_selects("uuid:GPU-01234567-89ab-cdef-0123-456789abcdee", &subject));
    subject.uuid = NULL;
    assert_false(policy_selects("uuid:GPU-01234567-89ab-cdef-0123-456789abcdef", &subject));
    subject.uuid = "";
    assert_false(policy_selects("uuid:GPU-01234567-89ab-cdef-0123-456789abcdef", &subject));
    check_refused("uuid:", "uuid:GPU-xxxx");
    check_refused("uuid:GPU-0123", "uuid:GPU-xxxx");
    check_refused("uuid:GPU-01234567-89ab-cdef-0123-456789abcdeg", "uuid:GPU-xxxx");
}

/* ---- Kinds ---------------------------------------------------------------------------------- */

static void architectures_vendors_and_types(void **state)
{
    struct policy_subject subject = gpu("x");

    (void)state;
    assert_true(policy_selects("arch:sm_89", &subject));
    assert_true(policy_selects("arch:SM_8?", &subject));
    assert_false(policy_selects("arch:sm_8", &subject));
    assert_true(policy_selects("vendor:nvidia", &subject));
    assert_true(policy_selects("vendor:0x10DE", &subject));
    assert_false(policy_selects("vendor:amd", &subject));
    assert_true(policy_selects("type:discrete", &subject));
    assert_false(policy_selects("type:cpu", &subject));
    subject = (struct policy_subject){.name = "x", .backend = "vulkan"};
    assert_false(policy_selects("arch:*", &subject));
    assert_false(policy_selects("vendor:nvidia", &subject));
    assert_true(policy_selects("type:other", &subject));
}

static void selectors_that_can_never_match(void **state)
{
    char name[400];

    (void)state;
    check_refused("arch:", "arch:sm_89");
    check_refused("arch:sm 89", "arch:sm_89");
    check_refused("vendor:nvidea", "nvidia, amd");
    check_refused("vendor:0x0", "nvidia, amd");
    check_refused("type:gpu", "discrete, integrated");
    check_refused("index:0", "uuid:, pci:");
    check_refused("", "1 to");
    check_refused("(R) ", "1 to");
    check_refused("*", "[policy]");
    check_refused("? *", "[policy]");
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    check_refused(name, "1 to");
}

static void c06_junk_selects_nothing(void **state)
{
    static const char *const junk[] = {"-1",  "7",   "0,,1",        "0 1", "0,0",
                                       "abc", "0x0", "99999999999", ""};

    (void)state;
    for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
        assert_false(selects(junk[i], "NVIDIA H200"));
}

static void the_more_specific_has_the_greater_rank(void **state)
{
    static const char *const order[] = {
        "type:discrete",
        "vendor:nvidia",
        "arch:sm_8?",
        "arch:sm_89",
        "RTX*",
        "RTX 40*",
        "GeForce RTX 40*",
        "H200",
        "pci:0000:01:00.0",
        "uuid:01234567-89ab-cdef-0123-456789abcdef",
    };

    (void)state;
    for (size_t i = 1; i < sizeof(order) / sizeof(order[0]); i++) {
        if (strcmp(order[i], "GeForce RTX 40*") == 0)
            assert_int_equal(rank(order[i]), rank(order[i - 1])); /* the vendor's word is dropped */
        else
            assert_true(rank(order[i]) > rank(order[i - 1]));
    }
    assert_true(rank("type:cpu") > 0);
}

static void same_selectors_are_known_as_such(void **state)
{
    static const char *const pairs[][2] = {
        {"NVIDIA GeForce RTX 4060", "rtx  4060"},
        {"pci:0000:0a:00.0", "PCI:00000000:0A:00.0"},
        {"vendor:nvidia", "vendor:0x10de"},
        {"uuid:GPU-01234567-89ab-cdef-0123-456789abcdef",
         "uuid:01234567-89AB-cdef-0123-456789abcdef"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct selector a = parsed(pairs[i][0]), b = parsed(pairs[i][1]);
        struct selector other = parsed(pairs[(i + 1) % 4][0]);

        assert_true(selector_same(&a, &b));
        assert_false(selector_same(&a, &other));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c49_one_gpu_has_many_names),
        cmocka_unit_test(c49_a_short_name_is_that_model_alone),
        cmocka_unit_test(c49_radeon),
        cmocka_unit_test(vendor_words_do_not_widen_a_pattern),
        cmocka_unit_test(only_star_and_question_mark_are_special),
        cmocka_unit_test(c04_pci_addresses_are_normalised),
        cmocka_unit_test(uuids_are_whole_and_never_empty),
        cmocka_unit_test(architectures_vendors_and_types),
        cmocka_unit_test(selectors_that_can_never_match),
        cmocka_unit_test(c06_junk_selects_nothing),
        cmocka_unit_test(the_more_specific_has_the_greater_rank),
        cmocka_unit_test(same_selectors_are_known_as_such),
    };

    return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
