# NVTX: a profiling tool that is attached, here a small library, sees the stages by the profile's names.
begin "ranges are named as the profile's rows"
include=$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")/../include
run 0 gpufilter --version
if ! grep -q 'backends: cuda' stdout; then
    skip "the program was built without CUDA"
    return 0
elif [ ! -e "$include/nvtx3/nvToolsExt.h" ] || ! command -v cc >/dev/null; then
    skip "no NVTX headers or no compiler"
    return 0
fi
cat >tool.c <<'END'
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static int depth;

static int push(const char *name)
{
    printf("%s\n", name);
    return __atomic_fetch_add(&depth, 1, __ATOMIC_RELAXED);
}

static int pop(void)
{
    return __atomic_fetch_sub(&depth, 1, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void end(void)
{
    printf("left open: %d\n", depth);
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *const callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned size;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size))
        return 0;
    *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
    return 1;
}
END
run 0 cc -shared -fPIC -I"$include" -o tool.so tool.c
shows()
{
    device=$1
    shift
    run 0 env NVTX_INJECTION64_PATH="$PWD/tool.so" "$GPUFILTER" --device="$device" -i in.png -o out.ppm blur,equalize,gamma=2
    silent
    for range in decode blur 'equalize+gamma histogram' equalize+gamma encode "$@"; do
        stdout_has "^$range\$"
    done
    stdout_has '^left open: 0$'
}
shows cpu

begin "and on a GPU with the copies"
run 0 gpufilter --devices
if grep -q '^cuda:0 ' stdout; then
    shows cuda upload download
else
    skip "there is no GPU"
fi
