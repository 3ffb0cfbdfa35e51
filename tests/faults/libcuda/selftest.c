/* The stand-in driver, called as a plugin calls it. STANDIN_KERNELS must name the image of
 * tests/plugins/host/image.cpp, and the loader must find the stand-in as libcuda.so.1. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../backends/cuda/symbols.h"

static struct symbols cu;
static size_t (*fault_count)(void);
static const char *(*fault_text)(size_t i);
static uint64_t (*call_count)(const char *name);

static CUcontext context;
static CUmodule plain, waiting; /* the kernels without and with griddepcontrol.wait */

enum { WORDS = 256, STEPS = 12, INVALID_VALUE = 1, INVALID_DEVICE = 101, NO_BINARY = 209 };

#define OK(call) assert_int_equal(cu.call, CUDA_SUCCESS)

/* The latest fault says so; and it is the only one since `before`. */
static void expect_fault(size_t before, const char *words)
{
    assert_int_equal(fault_count(), before + 1);
    if (!strstr(fault_text(before), words))
        fail_msg("\"%s\" does not say \"%s\"", fault_text(before), words);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

struct add_args {
    uint64_t x;
    uint32_t value, n;
};

struct launch {
    struct add_args args;
    size_t size;
    void *extra[5];
};

static void prepare(struct launch *launch, CUdeviceptr x, uint32_t value)
{
    launch->args = (struct add_args){x, value, WORDS};
    launch->size = sizeof(launch->args);
    launch->extra[0] = (void *)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT;
    launch->extra[1] = &launch->args;
    launch->extra[2] = (void *)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT;
    launch->extra[3] = &launch->size;
    launch->extra[4] = (void *)CU_LAUNCH_PARAM_END_AS_INT;
}

static CUfunction step_of(CUmodule module)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, "step"));
    return function;
}

#define PTX(version, target, body)                                       \
    ".version " version "\n.target " target "\n.address_size 64\n"       \
    ".visible .entry step(\n\t.param .align 8 .b8 step_param_0[16]\n)\n" \
    ".maxntid 1024, 1, 1\n{\n\t.shared .align 4 .b8 tile[64];\n" body "\tret;\n}\n"

static CUresult load(const char *ptx, CUmodule *module, char log[256])
{
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)256};
    log[0] = '\0';
    return cu.cuModuleLoadDataEx(module, ptx, 2, options, values);
}

static int open_driver(void **state)
{
    char log[256];
    (void)state;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxPushCurrent(context));
    assert_int_equal(load(PTX("6.3", "sm_75", ""), &plain, log), CUDA_SUCCESS);
    assert_int_equal(load(PTX("7.8", "sm_90", "\tgriddepcontrol.wait;\n"), &waiting, log),
                     CUDA_SUCCESS);
    return 0;
}

static int close_driver(void **state)
{
    CUcontext popped;
    (void)state;
    OK(cuModuleUnload(plain));
    OK(cuModuleUnload(waiting));
    OK(cuCtxPopCurrent(&popped));
    OK(cuDevicePrimaryCtxRelease(0));
    return 0;
}

static CUdeviceptr allocate(void)
{
    CUdeviceptr address;
    OK(cuMemAlloc(&address, WORDS * sizeof(uint32_t)));
    return address;
}

static CUstream make_stream(void)
{
    CUstream stream;
    OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
    return stream;
}

static uint32_t last_word(CUdeviceptr x, CUstream stream)
{
    void *host;
    CUdeviceptr mapped;
    OK(cuMemHostAlloc(&host, WORDS * sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&mapped, host, 0));
    OK(cuMemcpyAsync(mapped, x, WORDS * sizeof(uint32_t), stream));
    OK(cuStreamSynchronize(stream));
    uint32_t word = ((uint32_t *)host)[WORDS - 1];
    OK(cuMemFreeHost(host));
    return word;
}

/* ---- Images ---------------------------------------------------------------------------------- */

static void test_images(void **state)
{
    CUmodule module;
    char log[256];
    int value;
    (void)state;
    assert_int_equal(load(PTX("99.0", "sm_75", ""), &module, log),
                     CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    assert_non_null(strstr(log, "newer than the driver"));
    assert_int_equal(load(PTX("8.7", "sm_120", ""), &module, log), NO_BINARY);
    assert_int_equal(load("not an image", &module, log), 218);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, step_of(plain)));
    assert_int_equal(value, 64);
    CUfunction function;
    assert_int_equal(cu.cuModuleGetFunction(&function, plain, "walk"), CUDA_ERROR_NOT_FOUND);
}

/* ---- Order ----------------------------------------------------------------------------------- */

static uint32_t expected_chain(void)
{
    uint32_t x = 1;
    for (uint32_t i = 1; i <= STEPS; i++)
        x = 3 * x + i;
    return x;
}

static void test_stream_order(void **state)
{
    (void)state;
    CUdeviceptr x = allocate();
    CUstream stream = make_stream();
    OK(cuMemsetD32Async(x, 1, WORDS, stream));
    for (uint32_t i = 1; i <= STEPS; i++) {
        struct launch launch;
        prepare(&launch, x, i);
        OK(cuLaunchKernel(step_of(plain), 4, 1, 1, 64, 1, 1, 0, stream, NULL, launch.extra));
    }
    assert_int_equal(last_word(x, stream), expected_chain());
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(x));
}

enum edges { NO_EDGES, FULL_EDGES, PROGRAMMATIC_EDGES };

/* A chain of steps as a graph. */
static uint32_t run_graph(CUmodule module, enum edges edges)
{
    CUdeviceptr x = allocate();
    CUstream stream = make_stream();
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[STEPS];
    CUgraphEdgeData data[STEPS];
    OK(cuGraphCreate(&graph, 0));
    for (uint32_t i = 0; i < STEPS; i++) {
        struct launch launch;
        prepare(&launch, x, i + 1);
        const CUDA_KERNEL_NODE_PARAMS_v1 params = {step_of(module), 4, 1, 1, 64, 1, 1, 0, NULL,
                                                   launch.extra};
        OK(cuGraphAddKernelNode(&nodes[i], graph, NULL, 0, &params));
        data[i] = (CUgraphEdgeData){.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                    .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    }
    if (edges == FULL_EDGES)
        OK(cuGraphAddDependencies(graph, nodes, nodes + 1, STEPS - 1));
    if (edges == PROGRAMMATIC_EDGES)
        OK(cuGraphAddDependencies_12030(graph, nodes, nodes + 1, data, STEPS - 1));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuMemsetD32Async(x, 1, WORDS, stream));
    OK(cuGraphLaunch(exec, stream));
    uint32_t result = last_word(x, stream);
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(x));
    return result;
}

static void test_graph_order(void **state)
{
    int unordered = 0, early = 0;
    uint64_t launches = call_count("cuGraphLaunch");
    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(run_graph(plain, FULL_EDGES), expected_chain());
        assert_int_equal(run_graph(waiting, PROGRAMMATIC_EDGES), expected_chain());
        unordered += run_graph(plain, NO_EDGES) != expected_chain();
        early += run_graph(plain, PROGRAMMATIC_EDGES) != expected_chain();
    }
    assert_true(unordered >= 8);
    assert_true(early >= 8);
    assert_int_equal(call_count("cuGraphLaunch"), launches + 40);
}

/* Of two steps, the first is changed; `module` has the function that it gets. */
static uint32_t run_changed(CUmodule module)
{
    CUdeviceptr x = allocate();
    CUstream stream = make_stream();
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[2];
    struct launch launch;
    size_t before = fault_count();
    CUDA_KERNEL_NODE_PARAMS_v1 params = {step_of(plain), 4, 1, 1, 64, 1, 1, 0, NULL, launch.extra};
    prepare(&launch, x, 1);
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode(&nodes[0], graph, NULL, 0, &params));
    OK(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &params));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuMemsetD32Async(x, 1, WORDS, stream));
    OK(cuGraphLaunch(exec, stream));
    assert_int_equal(cu.cuGraphExecKernelNodeSetParams(exec, nodes[0], &params), INVALID_VALUE);
    expect_fault(before, "changed while queued");
    OK(cuStreamSynchronize(stream));
    launch.args.value = 5;
    params.func = step_of(module);
    OK(cuGraphExecKernelNodeSetParams(exec, nodes[0], &params));
    OK(cuGraphLaunch(exec, stream));
    uint32_t result = last_word(x, stream);
    OK(cuGraphDestroy(graph));
    assert_int_equal(cu.cuGraphExecKernelNodeSetParams(exec, nodes[0], &params), INVALID_VALUE);
    expect_fault(before + 1, "no kernel of the graph");
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(x));
    return result;
}

static void test_graph_changes(void **state)
{
    (void)state;
    /* x = 1, then 3 x + 1 twice, then 3 x + 5 and 3 x + 1 */
    assert_int_equal(run_changed(plain), 3 * (3 * 13 + 5) + 1);
    assert_int_equal(run_changed(waiting), 3 * (3 * 13 + 5) + 1);
}

static void test_graph_mistakes(void **state)
{
    CUgraph graph;
    CUgraphNode nodes[2];
    CUgraphExec exec;
    size_t before = fault_count();
    (void)state;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    OK(cuGraphAddEmptyNode(&nodes[1], graph, NULL, 0));
    OK(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    OK(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], 1));
    assert_int_equal(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), INVALID_VALUE);
    expect_fault(before, "cycle");
    OK(cuGraphDestroy(graph));
}

/* Of two streams, one waits for the other; without the wait either order is seen. */
static uint32_t run_two_streams(bool wait)
{
    CUdeviceptr x = allocate();
    CUstream first = make_stream(), second = make_stream();
    CUevent event;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamWaitEvent(second, event, 0)); /* not recorded: no wait at all */
    OK(cuMemsetD32Async(x, 1, WORDS, first));
    OK(cuEventRecord(event, first));
    if (wait)
        OK(cuStreamWaitEvent(second, event, 0));
    OK(cuMemsetD32Async(x, 2, WORDS, second));
    OK(cuStreamSynchronize(first));
    OK(cuEventSynchronize(event));
    uint32_t word = last_word(x, second);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(first));
    OK(cuStreamDestroy(second));
    OK(cuMemFree(x));
    return word;
}

static void test_two_streams(void **state)
{
    int ones = 0;
    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(run_two_streams(true), 2);
        ones += run_two_streams(false) == 1;
    }
    assert_true(ones > 0 && ones < 20);
}

/* ---- Misuse ---------------------------------------------------------------------------------- */

static void test_contexts(void **state)
{
    CUcontext popped, other;
    CUdeviceptr address;
    CUstream stream = make_stream();
    size_t before = fault_count();
    (void)state;
    OK(cuCtxPopCurrent(&popped));
    assert_ptr_equal(popped, context);
    assert_int_equal(cu.cuMemAlloc(&address, 16), CUDA_ERROR_INVALID_CONTEXT);
    expect_fault(before, "without a current context");
    OK(cuDevicePrimaryCtxRetain(&other, 1));
    OK(cuCtxPushCurrent(other));
    assert_int_not_equal(cu.cuStreamQuery(stream), CUDA_SUCCESS);
    expect_fault(before + 1, "another context");
    OK(cuMemAlloc(&address, 16));
    OK(cuCtxPopCurrent(&popped));
    OK(cuDevicePrimaryCtxRelease(1));
    expect_fault(before + 2, "destroyed with a memory in it");
    assert_int_equal(cu.cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
    expect_fault(before + 3, "once too often");
    OK(cuCtxPushCurrent(context));
    OK(cuStreamDestroy(stream));
}

static void test_freed(void **state)
{
    CUdeviceptr x = allocate();
    CUstream stream = make_stream();
    size_t before = fault_count();
    (void)state;
    assert_int_equal(cu.cuMemsetD32Async(x, 1, WORDS + 1, stream), INVALID_VALUE);
    expect_fault(before, "outside of any memory");
    OK(cuMemFree(x));
    assert_int_not_equal(cu.cuMemFree(x), CUDA_SUCCESS);
    expect_fault(before + 1, "not allocated");
    OK(cuStreamDestroy(stream));
    assert_int_not_equal(cu.cuStreamSynchronize(stream), CUDA_SUCCESS);
    expect_fault(before + 2, "after it had been destroyed");
}

/* Rows, 100 bytes of every 128 into every 200. */
static CUDA_MEMCPY3D_v2 rows(CUdeviceptr to, CUdeviceptr from, size_t count)
{
    return (CUDA_MEMCPY3D_v2){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                              .srcDevice = from,
                              .srcPitch = 128,
                              .srcHeight = count,
                              .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                              .dstDevice = to,
                              .dstPitch = 200,
                              .dstHeight = count,
                              .WidthInBytes = 100,
                              .Height = count,
                              .Depth = 1};
}

static void test_rows(void **state)
{
    CUdeviceptr from = allocate(), to = allocate();
    CUstream stream = make_stream();
    CUDA_MEMCPY3D_v2 copy = rows(to, from, 5);
    size_t before = fault_count();
    unsigned char found[WORDS * sizeof(uint32_t)];
    (void)state;
    OK(cuMemsetD32Async(to, 0, WORDS, stream));
    OK(cuMemsetD32Async(from, 0x01010101, WORDS, stream));
    OK(cuMemcpy3DAsync(&copy, stream));
    OK(cuStreamSynchronize(stream));
    memcpy(found, (const void *)(uintptr_t)to, sizeof(found));
    for (size_t i = 0; i < sizeof(found); i++)
        assert_int_equal(found[i], i % 200 < 100 && i / 200 < 5);
    copy = rows(to, from, 6);
    assert_int_equal(cu.cuMemcpy3DAsync(&copy, stream), INVALID_VALUE);
    expect_fault(before, "6 rows outside of any memory");
    copy = rows(to, from, 5);
    copy.srcPitch = 99;
    assert_int_equal(cu.cuMemcpy3DAsync(&copy, stream), INVALID_VALUE);
    expect_fault(before + 1, "pitches of 200 and 99 bytes don't fit");
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(from));
    OK(cuMemFree(to));
}

static void test_registered(void **state)
{
    const unsigned flags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
    unsigned char *mine = calloc(1, 1000);
    CUdeviceptr x = allocate(), address;
    CUstream stream = make_stream();
    size_t before = fault_count();
    (void)state;
    assert_non_null(mine);
    OK(cuMemHostRegister(mine + 1, 900, flags));
    assert_int_equal(cu.cuMemHostRegister(mine + 900, 100, flags),
                     CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostGetDevicePointer(&address, mine + 1, 0));
    OK(cuMemsetD32Async(x, 0x07070707, WORDS, stream));
    OK(cuMemcpyAsync(address + 10, x, 800, stream));
    assert_int_equal(fault_count(), before);
    OK(cuMemHostUnregister(mine + 1)); /* too early */
    expect_fault(before, "registered memory was given back while queued work uses it");
    assert_int_not_equal(cu.cuMemHostUnregister(mine + 1), CUDA_SUCCESS);
    expect_fault(before + 1, "not allocated");
    OK(cuMemHostRegister(mine + 1, 900, flags));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(mine[11], 7);
    assert_int_equal(mine[10], 0);
    OK(cuMemHostUnregister(mine + 1));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(x));
    free(mine);
}

static void test_parameters(void **state)
{
    CUdeviceptr x = allocate();
    CUstream stream = make_stream();
    struct launch launch;
    size_t before = fault_count();
    (void)state;
    prepare(&launch, x, 1);
    launch.size = 12;
    assert_int_equal(cu.cuLaunchKernel(step_of(plain), 1, 1, 1, 64, 1, 1, 0, stream, NULL,
                                       launch.extra),
                     INVALID_VALUE);
    expect_fault(before, "12 bytes of parameters, it has 16");
    launch.size = 16;
    assert_int_equal(cu.cuLaunchKernel(step_of(plain), 1, 65536, 1, 64, 1, 1, 0, stream, NULL,
                                       launch.extra),
                     INVALID_VALUE);
    expect_fault(before + 1, "beyond the limits");
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(x));
}

static void test_devices(void **state)
{
    int count, value;
    char name[64];
    CUuuid uuid;
    size_t before = fault_count();
    (void)state;
    OK(cuDeviceGetCount(&count));
    assert_int_equal(count, 2);
    OK(cuDeviceGetName(name, sizeof(name), 1));
    assert_string_equal(name, "Old GPU");
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
    assert_int_equal(value, 7);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1));
    assert_int_equal(value, 0);
    OK(cuDeviceGetUuid(&uuid, 1));
    assert_int_equal(uuid.bytes[1], 0x11);
    assert_int_equal(cu.cuDeviceGetName(name, sizeof(name), 2), INVALID_DEVICE);
    expect_fault(before, "device 2 of 2");
}

static void test_planned_failure(void **state)
{
    CUstream stream = make_stream();
    char plan[64];
    (void)state;
    snprintf(plan, sizeof(plan), "cuMemFree:9:1,cuStreamQuery:%llu:999",
             (unsigned long long)call_count("cuStreamQuery") + 2);
    setenv("STANDIN_FAIL", plan, 1);
    OK(cuStreamQuery(stream));
    assert_int_equal(cu.cuStreamQuery(stream), CUDA_ERROR_UNKNOWN);
    OK(cuStreamQuery(stream));
    unsetenv("STANDIN_FAIL");
    OK(cuStreamDestroy(stream));
}

/* A kernel that breaks the device is left where it was, with what its run had allocated. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:gantry_host::runner\n";
}

/* The last test: a kernel writes where nothing is, and nothing works afterwards. */
static void test_broken_device(void **state)
{
    CUstream stream = make_stream();
    struct launch launch;
    size_t before = fault_count();
    (void)state;
    prepare(&launch, 8, 1);
    CUresult result =
        cu.cuLaunchKernel(step_of(plain), 1, 1, 1, 64, 1, 1, 0, stream, NULL, launch.extra);
    if (result == CUDA_SUCCESS)
        result = cu.cuStreamSynchronize(stream);
    assert_int_equal(result, CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cu.cuStreamDestroy(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(fault_count(), before);
}

/* ---- Main ------------------------------------------------------------------------------------ */

static bool find(const char *name, void *function)
{
    void *address = dlsym(cu.library, name);
    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images),          cmocka_unit_test(test_stream_order),
        cmocka_unit_test(test_graph_order),     cmocka_unit_test(test_graph_changes),
        cmocka_unit_test(test_graph_mistakes),  cmocka_unit_test(test_two_streams),
        cmocka_unit_test(test_contexts),        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_parameters),      cmocka_unit_test(test_devices),
        cmocka_unit_test(test_planned_failure), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_registered),
    };
    const struct CMUnitTest last[] = {cmocka_unit_test(test_broken_device)};
    char reason[512];
    setenv("STANDIN_DEVICES",
           "New GPU,sm_90;Old GPU,sm_75,uuid=00112233445566778899aabbccddeeff,attribute.122=0", 1);
    if (!symbols_open(&cu, reason, sizeof(reason)) || !find("standin_faults", &fault_count) ||
        !find("standin_fault", &fault_text) || !find("standin_calls", &call_count)) {
        fprintf(stderr, "the stand-in was not found: %s\n", reason);
        return 2;
    }
    int failed = cmocka_run_group_tests_name("stand-in libcuda", tests, open_driver, close_driver);
    failed += cmocka_run_group_tests_name("a lost device", last, open_driver, NULL);
    return failed != 0;
}
