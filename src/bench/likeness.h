/* Reads whole pictures, measures how similar two are, for --compare, and finds the place where
 * they differ most. */
#pragma once

#include "base/process/machine.h"
#include "codec/io/input.h"
#include "cuda/measure/coders.h"
#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"
#include "gpufilter/status.h"
#include "pipeline/pipeline_internal.h"
#include "stage/picture.h"

enum gf_measure {
#define GF_MEASURE_ROW(name, ...) GF_MEASURE_##name,
#include "bench/measures.def"
#undef GF_MEASURE_ROW
    GF_MEASURES
};

/* A measure is NaN if the pictures are too small for it, or it takes time and was not asked for. */
struct gf_likeness {
    double measure[GF_MEASURES];
    bool of_floats; /* largest and mean are differences of floats, not steps of a sample */
};

/* Compares two pictures of one format. Bit i of `measures` asks for measure i; options->threads and
 * the device are as for gf_score_pair(). */
enum gf_status gf_likeness_of(const struct gf_image *a, const struct gf_image *b, unsigned measures,
                              const struct gf_options *options, struct gf_likeness *likeness,
                              struct gf_error *error) GF_CHECKED;

/* Draws the absolute differences of two pictures of one format, stretched so that the largest is M.
 * A colour is at least the difference of alpha. *picture has the same colours without alpha; the
 * caller frees it by gf_image_free(). */
enum gf_status gf_likeness_draw(const struct gf_image *a, const struct gf_image *b,
                                struct gf_image *picture, struct gf_error *error) GF_CHECKED;

/* ---- the place where two pictures differ most, which the page shows enlarged ---- */

enum { GF_SPOT_SIDE = 40 };

struct gf_compare_spot {
    int x, y, width, height; /* a part of the picture around the place; no side is longer than
                              * GF_SPOT_SIDE */
    /* RGB of 8 bits, without alpha, row by row. */
    unsigned char expected[3 * GF_SPOT_SIDE * GF_SPOT_SIDE];
    unsigned char found[3 * GF_SPOT_SIDE * GF_SPOT_SIDE];
    /* The differences in grey. White is the largest difference of a sample, including alpha. */
    unsigned char difference[3 * GF_SPOT_SIDE * GF_SPOT_SIDE];
};

/* Compares two pictures of one format. Returns NULL if they are equal, or there is no memory. The
 * caller frees the result. */
struct gf_compare_spot *gf_compare_spot_make(const struct gf_view *found,
                                             const struct gf_view *expected);

/* ---- reading whole pictures for measurements and comparisons ---- */

/* The pictures of a file, or of standard input ("-"): those that its name chooses ("a.gif[all]"),
 * or one. They are turned upright if options.autorotate is set; floats become integers of 16 bits,
 * whose full scale is 0..1, with a warning if any is beyond and a measure needs them. A picture
 * fails if it takes more memory than options.memory_bytes or, by default, a part of the machine's
 * memory. Unless `measures` is 0, that counts also another picture and gf_likeness_of() with these
 * measures. */
struct gf_reading {
    struct gf_options options;
    unsigned measures;
    struct gf_input *input;
    struct gf_source *source;
    struct gf_pages pages;   /* what is read; may be changed before the first picture is */
    struct gf_image picture; /* the present one */
    struct gf_image floats;  /* its own numbers of 32 bits, if the file has floats and `measures` is
                              * not 0 */
    size_t beyond;           /* of its samples, those that integers clamp, without a warning yet */
    int count;               /* pictures read so far */
    bool begun;              /* the next picture's header is read, and memory is taken for it */
    /* NULL, or what both readings of a pair take their memory from, set in the first one after it
     * is opened; the bytes that this one holds of it. */
    struct gf_memory_budget *budget;
    uint64_t held;
};

/* A failed reading can be closed, as can a struct of zeros. */
enum gf_status gf_reading_open(const char *path, const struct gf_options *options,
                               unsigned measures, struct gf_reading *reading,
                               struct gf_error *error) GF_CHECKED;
/* Reads no more than the header of the next picture, which gf_reading_next() then reads. */
enum gf_status gf_reading_begin(struct gf_reading *reading, bool *found,
                                struct gf_error *error) GF_CHECKED;
/* Reads the next picture in place of the one before. *found becomes false behind the last. */
enum gf_status gf_reading_next(struct gf_reading *reading, bool *found,
                               struct gf_error *error) GF_CHECKED;
void gf_reading_close(struct gf_reading *reading);

/* Makes 16 bits of a present picture of 8 bits beside one of floats, which has 16 bits, too. */
enum gf_status gf_readings_match(struct gf_reading reading[2], struct gf_error *error) GF_CHECKED;
/* Compares the present pictures, which have one format, by the measures of reading[0], of floats by
 * their own numbers where a measure is of differences. Colours of
 * two kinds are converted to sRGB by Little CMS, in place; those of one kind for SSIMULACRA2 and
 * CIEDE2000 alone. */
enum gf_status gf_likeness_of_readings(struct gf_reading reading[2], struct gf_likeness *likeness,
                                       struct gf_error *error) GF_CHECKED;

/* The memory of a GPU that a thread's pairs are decoded to. Zeros: nothing is there yet. */
struct gf_device_pair {
    struct gf_remote *remote; /* a server that compares the first pair; NULL: there is none */
    struct gf_pipeline *pipeline;
    struct gf_image image[2];
    bool warned;
    struct gf_error failure; /* of the device at the last pair */
};
/* Does what gf_likeness_of_readings() does with the first pictures of two files, of which nothing
 * was read yet, by the server or on this process's GPU, without any pixels in host memory.
 * *compared stays false if that is not for a GPU, or fails: the readings go on as if this had not
 * been called. */
enum gf_status gf_likeness_on_device(struct gf_device_pair *pair, struct gf_reading reading[2],
                                     struct gf_likeness *likeness, bool *compared,
                                     struct gf_error *error) GF_CHECKED;
void gf_device_pair_close(struct gf_device_pair *pair);
/* Compares two pictures for a server, as its settings' compare() does. Fails where this is not for
 * its GPU. */
enum gf_status gf_likeness_for_client(struct gf_pipeline *pipeline, struct gf_memory_budget *budget,
                                      const struct gf_remote_work *work,
                                      struct gf_remote_result *result,
                                      struct gf_error *error) GF_CHECKED;
/* Whether a GPU may decode pairs and find these measures of them. */
bool gf_likeness_suits_device(const struct gf_options *options, unsigned measures);
/* Returns what gf_score_pair() is to find for these measures. */
unsigned gf_likeness_wanted(unsigned measures);
/* Sets the measures that a GPU has found of a pair. All others are NaN. */
void gf_likeness_set(const struct gf_measure_picture *pair, struct gf_likeness *likeness);
