/* Compares two files on a GPU that decodes both: their pixels are never in host memory. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/threads/times.h"
#include "bench/likeness.h"
#include "bench/score.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "engine/device_score.h"
#include "gpufilter/pipeline_batch.h"
#include "measure/ssimulacra2.h"

bool gf_likeness_suits_device(const struct gf_options *options, unsigned measures)
{
    const unsigned found = 1 << GF_MEASURE_LARGEST | 1 << GF_MEASURE_MEAN | 1 << GF_MEASURE_PSNR |
                           1 << GF_MEASURE_SSIM | 1 << GF_MEASURE_MS_SSIM |
                           1 << GF_MEASURE_SSIMULACRA2;
    return gf_likeness_wanted(measures) && !(measures & ~found) && options->codec != GF_CODEC_CPU &&
           !options->device_memory_bytes;
}

static void note_warning(void *pair, const char *text)
{
    (void)text;
    ((struct gf_device_pair *)pair)->warned = true;
}

/* Whether the device's coders decode the file to what is measured. A PNG of one stream takes them
 * as long as many do, and many come where pairs are compared beside others. */
static bool is_for_coders(const struct gf_reading *reading)
{
    const struct gf_source *const source = reading->source;
    const struct gf_format format = source->format;
    return reading->pages.first < 0 && source->for_device_codec && !source->for_device_batch &&
           (source->file != GF_FILE_PNG || source->has_stripes || reading->options.serial) &&
           gf_input_size(reading->input) > 0 && format.width >= GF_SSIMULACRA2_SIDE &&
           format.height >= GF_SSIMULACRA2_SIDE &&
           gf_metadata_is_srgb(&source->metadata, format, &reading->options);
}

static enum gf_status open_pipeline(struct gf_device_pair *pair, const struct gf_options *given,
                                    struct gf_error *error)
{
    struct gf_options options = *given;
    if (pair->pipeline)
        return GF_OK;
    options.device = GF_DEVICE_CUDA;
    options.serial = true;
    options.threads = 1;
    options.timeout_s = 0; /* the thread's limit counts, and the coders would leave the pictures */
    options.warn = note_warning;
    options.warn_context = pair;
    return gf_pipeline_open("", &options, &pair->pipeline, error);
}

/* Decodes both files. Pictures of the formats of the pair before go to the same memory. */
static enum gf_status decode(struct gf_device_pair *pair, const struct gf_reading reading[2],
                             struct gf_error *error)
{
    void *data[2] = {NULL, NULL};
    size_t sizes[2];
    enum gf_status status = open_pipeline(pair, &reading[0].options, error);
    pair->warned = false;
    for (int i = 0; i < 2 && !status; i++) {
        const struct gf_source *const source = reading[i].source;
        if (source->metadata.orientation > 1 ||
            !gf_same_format(pair->image[i].format, source->format))
            gf_pipeline_free_images(pair->pipeline, &pair->image[i], 1);
        sizes[i] = (size_t)gf_input_size(reading[i].input);
        data[i] = malloc(sizes[i]);
        status = data[i] ? gf_input_copy(reading[i].input, data[i], error) : gf_fail_memory(error);
    }
    GF_THEN(status, gf_decode_batch(pair->pipeline, 2, (const void *const *)data, sizes,
                                    pair->image, NULL, NULL, error));
    free(data[0]);
    free(data[1]);
    return status;
}

enum gf_status gf_likeness_on_device(struct gf_device_pair *pair, struct gf_reading reading[2],
                                     struct gf_likeness *likeness, bool *compared,
                                     struct gf_error *error)
{
    const struct gf_options *const options = &reading[0].options;
    const unsigned measures = reading[0].measures;
    struct gf_ssimulacra2_measure_picture measured = {.original = &pair->image[0],
                                                      .changed = &pair->image[1],
                                                      .wanted = gf_likeness_wanted(measures)};
    struct gf_error why;
    *compared = false;
    if (!gf_likeness_suits_device(options, measures) || !gf_score_takes_gpu(options))
        return GF_OK;
    for (int i = 0; i < 2; i++) {
        bool found;
        GF_TRY(gf_reading_begin(&reading[i], &found, error));
        if (!found || !is_for_coders(&reading[i]))
            return GF_OK;
    }
    /* Whatever is said of a picture is said when the CPU reads it. */
    if (!gf_same_format(reading[0].source->format, reading[1].source->format) ||
        decode(pair, reading, &why) || pair->warned ||
        !gf_same_format(pair->image[0].format, pair->image[1].format) ||
        gf_score_on_gpu(&measured, options, &why) || !measured.measured)
        return GF_OK;
    gf_likeness_set(&measured, likeness);
    *compared = true;
    return gf_time_check(error);
}

void gf_device_pair_close(struct gf_device_pair *pair)
{
    if (!pair->pipeline)
        return;
    gf_pipeline_free_images(pair->pipeline, pair->image, 2);
    gf_pipeline_close(pair->pipeline);
    pair->pipeline = NULL;
}
