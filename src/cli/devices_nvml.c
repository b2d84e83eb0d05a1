#include "cli/devices_nvml.h"

#include <dlfcn.h>
#include <stddef.h>

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

void gf_nvml_query(const char *pci_bus_id, struct gf_nvml_info *info)
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
