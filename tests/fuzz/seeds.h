/* How the seeds of the fuzz targets are written: `seeds FOLDER` makes FOLDER/TARGET/NAME. */
#pragma once

#include <stddef.h>

/* A seed of that target, named by its number. */
void put_seed(const char *target, const void *data, size_t size);

/* Files of every kind that the codecs read. (seed_files.c) */
void put_png_seeds(void);
void put_jpeg_seeds(void);
void put_pnm_seeds(void);
void put_bitmap_seeds(void);
void put_format_seeds(void); /* those that need a library */
void put_profile_seeds(void);
