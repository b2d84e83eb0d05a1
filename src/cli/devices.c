/* --devices: the GPUs of this machine, which compiled code of the program each would run, and the
 * CPU; as text and as JSON. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/text/json.h"
#include "cli/help/help.h"
#include "engine/backend.h"
#include "report/text.h"
#include "server/server.h"

/* ---- the driver's management library (NVML), which is loaded for each query ---- */

/* The result of a query. -1: not known. */
struct gf_nvml_info {
    char driver[32]; /* driver's version, "580.159.04"; "": unknown */
    int sm_mhz, sm_most_mhz,
        memory_mhz; /* clocks in MHz: sm_mhz and memory_mhz at present, sm_most_mhz the highest */
    int power_mw, power_limit_mw;
    int persistence; /* 1: the driver stays loaded without clients; 0: it does not */
    int pcie_generation, pcie_lanes; /* the fastest link that both the GPU and the slot support */
};

/* The functions of NVML that this file calls. Each returns 0 for success. */
typedef struct nvml_device *nvml_device;
typedef int nvml_plain(void);
typedef int nvml_find(const char *pci_bus_id, nvml_device *device);
typedef int nvml_get(nvml_device device, unsigned *value);
typedef int nvml_get_clock(nvml_device device, int clock, unsigned *mhz);
typedef int nvml_get_text(char *text, unsigned size);
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };

static int get(void *library, const char *name, nvml_device device)
{
    unsigned value;
    nvml_get *const function = (nvml_get *)dlsym(library, name);
    return function && !function(device, &value) ? (int)value : -1;
}

static int get_clock(void *library, const char *name, nvml_device device, int clock)
{
    unsigned mhz;
    nvml_get_clock *const function = (nvml_get_clock *)dlsym(library, name);
    return function && !function(device, clock, &mhz) ? (int)mhz : -1;
}

static void ask(void *library, nvml_device device, struct gf_nvml_info *info)
{
    info->sm_mhz = get_clock(library, "nvmlDeviceGetClockInfo", device, CLOCK_SM);
    info->sm_most_mhz = get_clock(library, "nvmlDeviceGetMaxClockInfo", device, CLOCK_SM);
    info->memory_mhz = get_clock(library, "nvmlDeviceGetClockInfo", device, CLOCK_MEMORY);
    info->power_mw = get(library, "nvmlDeviceGetPowerUsage", device);
    info->power_limit_mw = get(library, "nvmlDeviceGetEnforcedPowerLimit", device);
    info->persistence = get(library, "nvmlDeviceGetPersistenceMode", device);
    info->pcie_generation = get(library, "nvmlDeviceGetMaxPcieLinkGeneration", device);
    info->pcie_lanes = get(library, "nvmlDeviceGetMaxPcieLinkWidth", device);
}

/* Asks NVML about the GPU at a PCI address such as "0000:01:00.0". Members that it cannot tell stay
 * -1. */
static void nvml_query(const char *pci_bus_id, struct gf_nvml_info *info)
{
    *info = (struct gf_nvml_info){"", -1, -1, -1, -1, -1, -1, -1, -1};
    void *const library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
    if (!library)
        return;
    nvml_plain *const init = (nvml_plain *)dlsym(library, "nvmlInit_v2");
    nvml_plain *const shutdown = (nvml_plain *)dlsym(library, "nvmlShutdown");
    nvml_find *const find = (nvml_find *)dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    nvml_get_text *const driver = (nvml_get_text *)dlsym(library, "nvmlSystemGetDriverVersion");
    if (init && shutdown && find && !init()) {
        nvml_device device = NULL;
        if (!driver || driver(info->driver, sizeof info->driver))
            info->driver[0] = '\0';
        if (!find(pci_bus_id, &device))
            ask(library, device, info);
        shutdown();
    }
    dlclose(library);
}

/* ---- devices as text ---- */

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
    nvml_query(info.pci_bus_id, &nvml);
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
    GF_THEN(status, measure(file, backend, error));
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

/* ---- devices as JSON, without facts for which a GPU would have to be started ---- */

const struct gf_key_help gf_devices_keys[] = {
    {"version", "1.0; a key whose meaning changes raises the first number"},
    {"cuda", "why there is no GPU; null where there is one"},
    {"gpus[].device", "the value for *--device*: cuda:0"},
    {"gpus[].name", "the name of the GPU"},
    {"gpus[].compute", "the compute capability: 9.0"},
    {"gpus[].multiprocessors", "their number"},
    {"gpus[].memory_bytes", "device memory"},
    {"gpus[].l2_bytes", "the L2 cache"},
    {"gpus[].copy_engines", "their number"},
    {"gpus[].memory_bandwidth", "bytes per second in theory; null: not known"},
    {"gpus[].ecc", "whether device memory corrects errors"},
    {"gpus[].pci", "the address on the PCI bus"},
    {"gpus[].numa_node", "null where there is only one, or none is told"},
    {"gpus[].driver", "the driver's version; null: not told"},
    {"gpus[].driver_cuda", "the newest CUDA that the driver knows"},
    {"gpus[].runtime_cuda", "the CUDA of this program"},
    {"gpus[].clock_mhz", "the present clock of the multiprocessors; null: not told"},
    {"gpus[].power_w", "the present power; null: not told"},
    {"cpu.processors", "processors that the program may use"},
    {"cpu.vectors", "the set of vector instructions that it uses"},
    {"server.process", "the process of a server that *--server* uses; server is null without one"},
    {"server.device", "its GPU"},
    {"server.clients", "its clients, without this process"},
    {"server.done", "pictures so far"},
    {0},
};

/* Writes value / unit, or null if the value is less than `least`, which means unknown. */
static void put_known(struct gf_json *json, const char *key, double value, double least,
                      double unit)
{
    if (value < least)
        gf_json_string(json, key, NULL);
    else
        gf_json_figure(json, key, value * unit);
}

static void put_version(struct gf_json *json, const char *key, int version)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10);
    gf_json_string(json, key, text);
}

static void put_gpu(struct gf_json *json, const struct gf_device_info *info)
{
    struct gf_nvml_info nvml;
    char text[32];
    nvml_query(info->pci_bus_id, &nvml);
    gf_json_object(json, NULL, GF_JSON_LINES);
    snprintf(text, sizeof text, "cuda:%d", info->index);
    gf_json_string(json, "device", text);
    gf_json_string(json, "name", info->name);
    snprintf(text, sizeof text, "%d.%d", info->major, info->minor);
    gf_json_string(json, "compute", text);
    gf_json_number(json, "multiprocessors", info->multiprocessors, 0);
    gf_json_number(json, "memory_bytes", (double)info->memory_bytes, 0);
    gf_json_number(json, "l2_bytes", (double)info->l2_bytes, 0);
    gf_json_number(json, "copy_engines", info->copy_engines, 0);
    put_known(json, "memory_bandwidth", info->memory_bandwidth, 1, 1);
    gf_json_bool(json, "ecc", info->ecc);
    gf_json_string(json, "pci", info->pci_bus_id);
    put_known(json, "numa_node", info->numa_node, 0, 1);
    gf_json_string(json, "driver", *nvml.driver ? nvml.driver : NULL);
    put_version(json, "driver_cuda", info->driver_version);
    put_version(json, "runtime_cuda", info->runtime_version);
    put_known(json, "clock_mhz", nvml.sm_mhz, 0, 1);
    put_known(json, "power_w", nvml.power_mw, 0, 1e-3);
    gf_json_end(json);
}

static void put_server(struct gf_json *json)
{
    struct gf_server_welcome server;
    if (!gf_server_look(&server)) {
        gf_json_string(json, "server", NULL);
        return;
    }
    gf_json_object(json, "server", GF_JSON_INLINE);
    gf_json_number(json, "process", server.process, 0);
    gf_json_number(json, "device", server.device, 0);
    gf_json_number(json, "clients", (double)server.clients - 1, 0);
    gf_json_number(json, "done", (double)server.done, 0);
    gf_json_end(json);
}

enum gf_status gf_help_devices_json(FILE *file, struct gf_error *error)
{
    const char *why = NULL;
    const int count = gf_device_count(&why);
    struct gf_json json = gf_json_begin(file);
    enum gf_status status = GF_OK;
    gf_json_object(&json, NULL, GF_JSON_LINES);
    gf_json_string(&json, "version", "1.0");
    gf_json_string(&json, "cuda", count ? NULL : why && *why ? why : "no CUDA device");
    gf_json_array(&json, "gpus", count ? GF_JSON_LINES : GF_JSON_COMPACT);
    for (int i = 0; !status && i < count; i++) {
        struct gf_device_info info;
        status = gf_device_describe(i, &info, error);
        if (!status)
            put_gpu(&json, &info);
    }
    gf_json_end(&json);
    gf_json_object(&json, "cpu", GF_JSON_INLINE);
    gf_json_number(&json, "processors", gf_cpu_count(), 0);
    gf_json_string(&json, "vectors", gf_cpu_instruction_set());
    gf_json_end(&json);
    put_server(&json);
    gf_json_end(&json);
    return status;
}
