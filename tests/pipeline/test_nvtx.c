/* The NVTX ranges that a profiler sees: they have the profile's names, and each one ends. The test
 * records them through NVTX's injection interface. */
#include "base/threads/nvtx.h"
#include "runner.h"

#ifdef GF_HAS_NVTX
#include <stdatomic.h>

static atomic_int begun, ended;
static char seen[64][64];

static int NVTX_API on_push(const char *name)
{
    const int index = atomic_fetch_add(&begun, 1);
    if (index < 64)
        snprintf(seen[index], sizeof seen[index], "%s", name);
    return 0;
}

static int NVTX_API on_pop(void)
{
    atomic_fetch_add(&ended, 1);
    return 0;
}

static int NVTX_API inject(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *const callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned size;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size))
        return 0;
    *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)on_push;
    *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)on_pop;
    return 1;
}

NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = inject;

static bool was_seen(const char *name)
{
    for (int i = 0; i < begun && i < 64; i++) {
        if (!strcmp(seen[i], name))
            return true;
    }
    return false;
}

static void test_names(void **state)
{
    struct gf_image input = picture_random(format_of(40, 30, 3, 8), 0, 1), output;
    struct gf_error error = {0};
    struct fake_device device;
    fake_open(&device);
    struct way way = {
        .name = "ranges", .device = &device, .lanes = 1, .streams_in = true, .streams_out = true};
    assert_ok("ranges", run_way("invert,gamma=2,blur,equalize", &way, &input, &output, &error),
              &error);
    static const char *const names[] = {
        "decode",   "upload", "invert+gamma+blur", "equalize histogram", "equalize",
        "download", "encode"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!was_seen(names[i]))
            fail_msg("no range is called '%s'", names[i]);
    }
    assert_int_equal(begun, ended);
    fake_assert_clean("ranges", &device);
    picture_free(&input);
    picture_free(&output);
}
#else
static void test_names(void **state)
{
    skip(); /* without the CUDA Toolkit's headers there are no ranges */
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
