/* The figures of this machine from one run to the next: a small text file in
 * $XDG_CACHE_HOME/gpufilter, else in ~/.cache/gpufilter, named after the machine and the build. No
 * run depends on it: what is missing, damaged, somebody else's, or made for another machine counts
 * as not there, and what cannot be written is not kept. */
#ifndef GF_BATCH_FIGURES_CACHE_H
#define GF_BATCH_FIGURES_CACHE_H

#include "batch/figures.h"

struct gf_figures_file {
    char path[4096];
    char machine[400]; /* gf_machine_describe() */
};

/* Finds the file's name; false where the environment names no place for it. */
bool gf_figures_file_find(struct gf_figures_file *file);
/* What is known; all zeros if nothing is. Reads one file of some kilobytes. */
void gf_figures_load(struct gf_figures *figures);
/* Figures that were measured replace those in the file, and the others stay. The file is replaced
 * by a rename, so that readers see one or the other. Of changes at the same time all but one may be
 * lost. False if the file could not be written: *why says why and may be NULL. */
bool gf_figures_keep(const struct gf_figures *measured, struct gf_error *why);

#endif
