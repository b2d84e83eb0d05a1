/* Queries the driver's management library (NVML) for the clocks, the power and the PCIe link of a
 * GPU. The library is loaded for each query. Without the library nothing is known. */
#pragma once

/* The result of a query. -1: not known. */
struct gf_nvml_info {
    char driver[32]; /* "580.159.04"; "" if not known */
    int sm_mhz, sm_most_mhz,
        memory_mhz; /* the present clocks, and the highest clocks of the multiprocessors */
    int power_mw, power_limit_mw;
    int persistence;                 /* whether the driver stays loaded without clients: 0 or 1 */
    int pcie_generation, pcie_lanes; /* the fastest link that both the GPU and the slot support */
};

/* pci_bus_id: "0000:01:00.0". */
void gf_nvml_query(const char *pci_bus_id, struct gf_nvml_info *info);
