/* JPEGs of --jpeg-encoder=perceptual that the CPU writes, for tests of the GPU's. */
#pragma once

#include "codec/codec.h"
#include "codec/common/metadata/metadata.h"
#include "codec/common/rows/source.h"
#include "codec/io/output.h"
#include "codec/jpeg/jpeg_header.h"
#include "codec/jpeg_files.h"

/* free() its data. */
static inline struct jpeg_file perceptual_encoded(const struct gf_view *in, int quality,
                                                  enum gf_subsampling subsampling)
{
    struct gf_options options = gf_options_default();
    struct gf_metadata metadata = {0};
    struct gf_output *output;
    struct gf_sink *sink;
    struct gf_error error;
    struct jpeg_file file;
    options.jpeg_encoder = GF_JPEG_PERCEPTUAL;
    options.quality = quality;
    options.subsampling = subsampling;
    options.threads = 1;
    assert_ok("memory", gf_output_open_memory("a", &output, &error), &error);
    assert_ok("sink",
              gf_sink_open(output, GF_FILE_JPEG, in->format, &metadata, &options, &sink, &error),
              &error);
    assert_ok("write", sink->write(sink, in->format.height, in->data, in->pitch, &error), &error);
    assert_ok("finish", sink->finish(sink, &error), &error);
    sink->close(sink);
    assert_ok("commit", gf_output_commit(output, &error), &error);
    file.data = gf_output_take(output, &file.size);
    gf_output_close(output);
    return file;
}

/* Replaces the file by what a GPU makes of it, and returns the size: its codes and its scan. */
static inline size_t perceptual_coded(struct jpeg_file *file)
{
    struct gf_jpeg_own_codes codes = {0};
    size_t size;
    const unsigned char *const scan = jpeg_scan(file, &size);
    for (const unsigned char *at = file->data + 2; at < scan; at += 2 + (at[2] << 8 | at[3])) {
        struct gf_jpeg_huffman *const table = (at[4] >> 4 ? codes.ac : codes.dc) + (at[4] & 15);
        if (at[1] != 0xc4)
            continue;
        memcpy(table->counts + 1, at + 5, 16);
        memcpy(table->symbols, at + 21, (size_t)(at[2] << 8 | at[3]) - 19);
    }
    unsigned char *const coded = malloc(sizeof codes + size);
    assert_non_null(coded);
    memcpy(coded, &codes, sizeof codes);
    memcpy(coded + sizeof codes, scan, size);
    free(file->data);
    file->data = coded;
    return sizeof codes + size;
}
