/* --devices=json: what --devices says, without what takes the start of a GPU. */
#include "base/cpu.h"
#include "base/json.h"
#include "base/target_clones.h"
#include "cli/devices_nvml.h"
#include "cli/help/help.h"
#include "server/client.h"

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

/* Writes a number that is not known, as null, if it is less than `least`. */
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
    gf_nvml_query(info->pci_bus_id, &nvml);
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
