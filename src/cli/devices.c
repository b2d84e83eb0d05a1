/* --devices: the GPUs of this machine, which of the program's code each would run, and the CPU. */
#include <stdlib.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/target_clones.h"
#include "cli/devices_nvml.h"
#include "cli/help/help.h"
#include "engine/backend.h"
#include "report/text.h"
#include "server/client.h"

static void print_nature(FILE *file, const struct gf_device_info *info)
{
    const double gib = 1.0 / (1 << 30), mib = 1.0 / (1 << 20);
    fprintf(file,
            "cuda:%d  %s: sm_%d%d, %d multiprocessors, %.1f GiB, L2 %.0f MiB, %d copy engine%s\n",
            info->index, info->name, info->major, info->minor, info->multiprocessors,
            (double)info->memory_bytes * gib, (double)info->l2_bytes * mib, info->copy_engines,
            gf_text_plural(info->copy_engines));
}

static enum gf_status print_software(FILE *file, const struct gf_device_info *info,
                                     const struct gf_nvml_info *nvml, struct gf_error *error)
{
    int architecture;
    bool built_in;
    GF_TRY(gf_device_code(info->index, &architecture, &built_in, error));
    fprintf(file, "        driver %s%sfor CUDA %d.%d, runtime %d.%d; ", nvml->driver,
            *nvml->driver ? " " : "", info->driver_version / 1000, info->driver_version % 1000 / 10,
            info->runtime_version / 1000, info->runtime_version % 1000 / 10);
    if (built_in)
        fprintf(file, "runs the cubin for sm_%d\n", architecture);
    else
        fprintf(file,
                "compiles PTX for compute_%d to sm_%d, once, into the JIT cache\n"
                "        This is slower than a build for this GPU (make CUDA_ARCHS=%d%d)\n",
                info->code_architecture, architecture, info->major, info->minor);
    return GF_OK;
}

/* Returns the bytes per second of a PCIe link: its transfers per second less the bits of the line
 * coding. */
static double pcie_bandwidth(int generation, int lanes)
{
    static const double gigatransfers[] = {0,
                                           2.5 * 0.8,
                                           5 * 0.8,
                                           8 * 128 / 130.0,
                                           16 * 128 / 130.0,
                                           32 * 128 / 130.0,
                                           64 * 242 / 256.0};
    const int known = sizeof gigatransfers / sizeof *gigatransfers;
    return generation < 1 || generation >= known ? 0 : 1e9 / 8 * gigatransfers[generation] * lanes;
}

static void print_memory(FILE *file, const struct gf_device_info *info,
                         const struct gf_nvml_info *nvml)
{
    fputs("        device memory ", file);
    if (info->memory_bandwidth > 0)
        fprintf(file, "%.0f GB/s in theory, ", 1e-9 * info->memory_bandwidth);
    fprintf(file, "ECC %s; PCIe", info->ecc ? "on" : "off");
    const double pcie = pcie_bandwidth(nvml->pcie_generation, nvml->pcie_lanes);
    if (pcie > 0)
        fprintf(file, " %d.0 x%d, %.0f GB/s in theory,", nvml->pcie_generation, nvml->pcie_lanes,
                1e-9 * pcie);
    fprintf(file, " at %s", info->pci_bus_id);
    if (info->numa_node >= 0)
        fprintf(file, ", NUMA node %d\n", info->numa_node);
    else
        fputs(", the only NUMA node, or none is told\n", file);
}

static void print_state(FILE *file, const struct gf_nvml_info *nvml)
{
    if (nvml->sm_mhz < 0) {
        fputs("        clocks and power are not told (libnvidia-ml.so.1)\n", file);
        return;
    }
    fprintf(file, "        clock %d MHz", nvml->sm_mhz);
    if (nvml->sm_most_mhz >= 0)
        fprintf(file, " of %d", nvml->sm_most_mhz);
    if (nvml->memory_mhz >= 0)
        fprintf(file, ", memory %d MHz", nvml->memory_mhz);
    if (nvml->power_mw >= 0)
        fprintf(file, "; power %.0f W", 1e-3 * nvml->power_mw);
    if (nvml->power_mw >= 0 && nvml->power_limit_mw >= 0)
        fprintf(file, " of %.0f", 1e-3 * nvml->power_limit_mw);
    if (nvml->persistence >= 0)
        fprintf(file, "; persistence %s", nvml->persistence ? "on" : "off");
    putc('\n', file);
}

static void print_peaks(FILE *file, const struct gf_profile *peaks)
{
    fprintf(file, "        measured: ");
    if (peaks->upload_peak > 0)
        fprintf(file, "upload %.1f GB/s, download %.1f GB/s, ", 1e-9 * peaks->upload_peak,
                1e-9 * peaks->download_peak);
    fprintf(file, "a copy in memory %.0f GB/s, read and written\n", 1e-9 * peaks->device_copy_peak);
}

static enum gf_status measure(FILE *file, struct gf_backend *backend, struct gf_error *error)
{
    struct gf_profile peaks = {0};
    const enum gf_status status = backend->calls->ready(backend, error);
    if (!status) {
        backend->calls->measure(backend, &peaks);
        print_peaks(file, &peaks);
    }
    backend->calls->close(backend);
    return status;
}

static enum gf_status print_gpu(FILE *file, int index, bool measured, struct gf_error *error)
{
    struct gf_device_info info;
    struct gf_nvml_info nvml;
    GF_TRY(gf_device_describe(index, &info, error));
    gf_nvml_query(info.pci_bus_id, &nvml);
    print_nature(file, &info);
    enum gf_status status = print_software(file, &info, &nvml, error);
    print_memory(file, &info, &nvml);
    print_state(file, &nvml);
    if (status || !measured)
        return status;
    struct gf_spans spans;
    struct gf_backend *backend;
    gf_spans_init(&spans);
    status =
        gf_backend_cuda_open(&(struct gf_cuda_options){.device = index}, &spans, &backend, error);
    if (!status)
        status = measure(file, backend, error);
    gf_spans_free(&spans);
    return status;
}

static void print_server(FILE *file)
{
    struct gf_server_welcome server;
    const double mib = 1.0 / (1 << 20);
    if (!gf_server_look(&server))
        return;
    const int clients = (int)server.clients - 1; /* the count includes this process */
    fprintf(file,
            "server  process %d on cuda:%d: %d client%s, %u at work, %u waiting, %llu done;\n",
            server.process, server.device, clients, gf_text_plural(clients), server.running,
            server.waiting, (unsigned long long)server.done);
    fprintf(file, "        %.0f MiB of host memory, %.0f MiB of buffers in device memory\n",
            (double)server.host_bytes * mib, (double)server.device_bytes * mib);
}

static enum gf_status print_cpu(FILE *file, bool measured, struct gf_error *error)
{
    struct gf_backend *backend;
    const int processors = gf_cpu_count();
    fprintf(file, "cpu     %d processor%s, a thread each; vectors: %s\n", processors,
            gf_text_plural(processors), gf_cpu_instruction_set());
    if (!measured)
        return GF_OK;
    GF_TRY(gf_backend_cpu_open(processors, &backend, error));
    return measure(file, backend, error);
}

/* Prints the variables that decide which GPUs are visible, and where compiled code is cached. */
static void print_environment(FILE *file)
{
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES", "CUDA_CACHE_PATH",
                                        "CUDA_CACHE_DISABLE", "CUDA_MPS_PIPE_DIRECTORY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (getenv(names[i]))
            fprintf(file, "        %s=%s\n", names[i], getenv(names[i]));
    }
}

enum gf_status gf_help_devices(FILE *file, bool measured, struct gf_error *error)
{
    const char *why = NULL;
    const int count = gf_device_count(&why);
    enum gf_status status = GF_OK;
    for (int i = 0; !status && i < count; i++)
        status = print_gpu(file, i, measured, error);
    if (!count)
        fprintf(file, "cuda    none: %s\n", why ? why : "no CUDA device");
    print_environment(file);
    print_server(file);
    return status ? status : print_cpu(file, measured, error);
}
