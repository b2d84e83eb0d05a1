/* What the driver's management library (NVML) tells of a GPU. It comes with the driver and is
 * loaded when it is asked; where it is absent, there is nothing to tell. */
#ifndef GF_CLI_NVML_H
#define GF_CLI_NVML_H

/* -1: not told. */
struct gf_nvml_info {
    char driver[32];                     /* "580.159.04"; "" */
    int sm_mhz, sm_most_mhz, memory_mhz; /* clocks now, and the highest */
    int power_mw, power_limit_mw;
    int persistence;                 /* 0, 1 */
    int pcie_generation, pcie_lanes; /* the most that the slot and the GPU allow */
};

/* pci_bus_id: "0000:01:00.0". */
void gf_nvml_query(const char *pci_bus_id, struct gf_nvml_info *info);

#endif
