/* Keeps the figures of this machine from one run to the next: a small text file in
 * $XDG_CACHE_HOME/gpufilter, else in ~/.cache/gpufilter, named after the machine and the build. No
 * run depends on the file: a file that is missing, damaged, somebody else's, or made for another
 * machine counts as missing, and a failure to write it is ignored. */
#pragma once

#include "batch/devices/figures.h"

struct gf_figures_file {
    char path[4096];
    char machine[400]; /* the text of gf_machine_describe() */
};

/* Finds the file's name. Returns false if the environment names no place for it. */
bool gf_figures_file_find(struct gf_figures_file *file);
/* Loads the calibrated figures, or all zeros if none is known. Reads one file of some kilobytes. */
void gf_figures_load(struct gf_figures *figures);
/* Puts measured figures into the file; its other figures stay. The file is replaced by a rename, so
 * that readers see the old or the new one. Of several simultaneous changes all but one may be lost.
 * Returns false if the file could not be written, with the reason in *why; `why` may be NULL. */
bool gf_figures_keep(const struct gf_figures *measured, struct gf_error *why);

/* Describes a machine by a text. Machines on which the measured times would differ have different
 * texts. */
enum { GF_MACHINE_SIZE = 400 };

/* Writes one line such as "gpu 10de:2335 x1; cpu INTEL(R) XEON(R) PLATINUM 8592+; 16 processors;
 * build 0123456789abcdef": the kinds of all GPUs that the driver shows, by their PCI numbers, the
 * kind of processor, the number of processors that this process may use, and gf_build_id(). The
 * call starts no driver and takes less than 0.1 ms. */
const char *gf_machine_describe(char text[GF_MACHINE_SIZE]);
