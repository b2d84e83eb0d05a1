/* The options of a pipeline: its device, its limits and the form of its output. */
#ifndef GPUFILTER_OPTIONS_H
#define GPUFILTER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gf_device_kind {
    GF_DEVICE_AUTO, /* a GPU, if there is one and something to filter; otherwise the CPU */
    GF_DEVICE_CPU,
    GF_DEVICE_CUDA /* an NVIDIA GPU; GF_ERROR_UNAVAILABLE if there is none */
};
/* The file formats. HEIC, the raw photographs of cameras and slides can only be read. WebP, TIFF,
 * AVIF, JPEG XL, HEIC, GIF, JPEG 2000, raw photographs and slides need a library that may be
 * missing. */
enum gf_file_format {
    GF_FILE_AUTO,
    GF_FILE_PNG,
    GF_FILE_JPEG,
    GF_FILE_PNM,
    GF_FILE_PAM,
    GF_FILE_WEBP,
    GF_FILE_TIFF,
    GF_FILE_AVIF,
    GF_FILE_JXL,
    GF_FILE_HEIC,
    GF_FILE_GIF,
    GF_FILE_BMP,
    GF_FILE_QOI,
    GF_FILE_JP2,
    GF_FILE_RAW,
    GF_FILE_Y4M,
    GF_FILE_SLIDE,
    GF_FILE_EXR,
    GF_FILE_PFM,
    GF_FILE_NPY,
    GF_FILE_HDR,
    GF_FILE_COUNT
};
enum gf_host_memory { GF_HOST_PINNED, GF_HOST_PAGEABLE };
enum gf_transfer { GF_TRANSFER_COPY, GF_TRANSFER_ZERO_COPY };
/* Chooses between the CPU's and the GPU's codec for JPEG, PNG of level 1 and the frames of Y4M. The
 * GPU codes only the usual kinds of JPEG and PNG. Both give the same pixels and the same bytes. */
enum gf_codec {
    GF_CODEC_AUTO, /* the GPU's codec if a GPU runs */
    GF_CODEC_CPU,
    GF_CODEC_GPU /* GF_ERROR_UNAVAILABLE if there is no GPU */
};
/* The compression of the pixels of a TIFF. G4 is for pictures of black and white, as faxes are. */
enum gf_tiff_compression {
    GF_TIFF_DEFLATE,
    GF_TIFF_LZW,
    GF_TIFF_NONE,
    GF_TIFF_JPEG,
    GF_TIFF_ZSTD,
    GF_TIFF_G4,
    GF_TIFF_WEBP /* lossy unless gf_options.lossless is set */
};
/* Which files are decoded in a cell: a process of its own, which has no files, no network and few
 * system calls, and whose death fails its picture alone. */
enum gf_sandbox {
    GF_SANDBOX_OFF,
    GF_SANDBOX_AUTO, /* cells decode WebP, TIFF, AVIF, JPEG XL, HEIC, GIF, JPEG 2000, raw
                      * photographs and ICC profiles, if the machine can run cells */
    GF_SANDBOX_ALL   /* cells also decode PNG, JPEG, BMP, QOI and Y4M, each picture in a new cell;
                      * GF_ERROR_UNAVAILABLE if the machine cannot run cells. A GPU's decoders run in
                      * no cell */
};
enum gf_subsampling {
    GF_SUBSAMPLING_420,
    GF_SUBSAMPLING_422,
    GF_SUBSAMPLING_444,
    GF_SUBSAMPLING_AUTO /* 444 if quality is over 90, otherwise 420 */
};

/* What makes the coefficients of a JPEG. */
enum gf_jpeg_maker {
    GF_JPEG_LIBJPEG,
    GF_JPEG_PERCEPTUAL /* fewer bytes with the same look */
};

/* What becomes of the gain map of a JPEG (Ultra HDR, ISO 21496-1, Apple's). A map that cannot be
 * read is left out with a warning. */
enum gf_gain_map {
    GF_GAIN_MAP_DROP, /* the picture is read without its gain map */
    GF_GAIN_MAP_KEEP, /* an output JPEG gets the map, moved and resized as the picture was. A
                       * warning tells that it is left out, if a filter moves pixels in another way,
                       * or that a filter changes colours */
    GF_GAIN_MAP_APPLY /* the result is the HDR picture: 16 bits, PQ, BT.2020, white of 203 cd/m2 */
};

/* The items of metadata that options.stripped and options.kept choose. */
enum gf_metadata_item {
    GF_METADATA_GPS,  /* where the picture was taken, in EXIF and XMP */
    GF_METADATA_EXIF, /* EXIF with its GPS, copyright, orientation and thumbnail */
    GF_METADATA_XMP,
    GF_METADATA_IPTC,
    GF_METADATA_ICC,   /* the ICC profile, or another description of the colours */
    GF_METADATA_TEXTS, /* texts with keywords, as a PNG has */
    GF_METADATA_COMMENTS,
    GF_METADATA_DENSITY,
    GF_METADATA_THUMBNAILS,
    GF_METADATA_COPYRIGHT,
    GF_METADATA_ORIENTATION,
    GF_METADATA_GAINMAP, /* see enum gf_gain_map */
    GF_METADATA_GEO,     /* GeoTIFF's tags */
    GF_METADATA_ITEMS
};

/* The matrices and the ranges of YCbCr samples, from which options.yuv chooses. */
enum gf_yuv_item {
    GF_YUV_ITEM_BT601,
    GF_YUV_ITEM_BT709,
    GF_YUV_ITEM_BT2020,
    GF_YUV_ITEM_LIMITED, /* luma is 16..235 at 8 bits */
    GF_YUV_ITEM_FULL,
    GF_YUV_ITEMS
};

enum {
    GF_DEVICE_INDEX_MAX = 1023,
    GF_LANES_MAX = 64,
    GF_BAND_ROWS_MAX = 1000000,
    GF_THREADS_MAX = 1024,
    GF_QUALITY_MAX = 100,
    GF_TIMEOUT_MAX = 1000000,
    GF_PNG_LEVEL_MAX = 9,
    GF_PNG_COLOURS_MAX = 256,
    GF_DEPTH_AUTO = -1,
    GF_DEPTH_FLOAT16 = 1016, /* a depth of floats is 1000 more than their bits */
    GF_DEPTH_FLOAT32 = 1032,
    GF_DEPTH_MAX = GF_DEPTH_FLOAT32,
    GF_TILE_SIZE_MAX = 8192
};

/* The options of a pipeline. Start with gf_options_default() and change members. A later version of
 * the library may add members at the end; a program that was built without them gets their
 * defaults. gf_pipeline_open() checks every member: a value outside its range is GF_ERROR_USAGE. */
struct gf_options {
    size_t size; /* bytes of the struct that the caller was compiled with; gf_options_default() sets
                  * it */
    enum gf_device_kind device;
    int device_index; /* index of the CUDA device, 0..GF_DEVICE_INDEX_MAX */
    int lanes;        /* number of bands that are worked on at once, 1..GF_LANES_MAX; 0: the
                       * library chooses */
    int band_rows;    /* rows of a band, 1..GF_BAND_ROWS_MAX; 0: the library chooses */
    int threads; /* number of threads of the CPU backend, of a PNG's encoder and of the codecs of a
                  * large JPEG, 1..GF_THREADS_MAX; 0: one for each processor; 1: a PNG or JPEG is
                  * coded by the thread that needs it */
    int tile_size; /* the side of a pyramid's tiles, 1..GF_TILE_SIZE_MAX; 0: as is usual for its
                    * layout; see `pyramid`. A TIFF without a pyramid gets tiles of that side, which
                    * 16 divides; 0: strips */
    uint64_t memory_bytes; /* limit of host memory for buffers, codecs, second pictures and whole
                            * pictures; a picture that needs more is GF_ERROR_INPUT. 0: three
                            * quarters of the machine's or the control group's memory, and for a
                            * decoder 1 GiB, or 16 KiB for each byte of the file if that is more */
    uint64_t device_memory_bytes; /* budget of device memory; 0: all free memory */
    uint64_t max_pixels; /* a larger input or result of a filter is GF_ERROR_INPUT; at least 1.
                          * Of an input of which a crop reads a part, the part counts */
    enum gf_host_memory host_memory; /* kind of host memory for copies to and from a GPU */
    enum gf_transfer transfer;       /* zero copy: kernels access pinned host memory directly */
    enum gf_codec codec;
    bool no_fuse;         /* run each filter by itself: the picture is rounded after each filter,
                           * and a separate kernel counts a histogram that a filter needs */
    bool autorotate;      /* apply the orientation that EXIF, TIFF, AVIF or JPEG XL states;
                           * otherwise the output states the same orientation. libheif turns a HEIC
                           * upright in any case */
    bool allow_truncated; /* keep what can be decoded of a truncated JPEG, PNG or JPEG 2000 */
    bool strip;           /* write no metadata, and convert no colours; see also `stripped` */
    bool profile;         /* record spans, and measure the machine's peak bandwidths */
    bool spans;           /* record when each part of the run began and ended (struct gf_span) */
    bool serial; /* the calling thread does everything, for programs with a pipeline on each of many
                  * threads */
    bool no_clobber; /* an output file that exists already is GF_ERROR_OUTPUT */
    bool sync;       /* wait until the output file is on the disk, not only in the system's cache */
    enum gf_file_format format; /* format of the output; GF_FILE_AUTO: by the extension of its name,
                                 * or the input's format if there is no name */
    int quality; /* quality of JPEG, WebP, AVIF, JPEG XL, JPEG 2000, TIFF, 1..GF_QUALITY_MAX */
    enum gf_subsampling subsampling; /* subsampling of JPEG and AVIF */
    bool progressive;                /* whether a JPEG is progressive */
    /* With `lossless`, a JPEG's columns and rows that cannot lie at the left or top of the result
     * are left out: a result begins at a border of units, of 8 to 32 pixels. Otherwise such a
     * picture is GF_ERROR_UNFIT. */
    bool lossless_trim;
    int png_level; /* 0..GF_PNG_LEVEL_MAX; 1 is the library's own fast coder, the others are
                    * zlib's */
    enum gf_jpeg_maker jpeg_encoder; /* CMYK is encoded by libjpeg, with a warning */
    /* Called with each warning, which is a line; may be NULL. It may be called from any thread
     * during a call of the pipeline, and must not call the pipeline. `text` is valid during the
     * call. */
    void (*warn)(void *context, const char *text);
    void *warn_context;
    /* The file contains exactly the same pixels; GF_ERROR_UNFIT if it cannot. A JPEG that is made
     * of a JPEG has its coefficients, which the filters rotate by 90, 180 and 270, hflip, vflip,
     * transpose and crop move; see also lossless_trim. */
    bool lossless;
    bool optimize;    /* a JPEG's Huffman codes are made for the picture, which makes the file
                       * smaller */
    bool png_palette; /* write a PNG of at most 256 colours with a palette. A PNG that had a palette
                       * keeps it anyway if no filter ran */
    /* The range of samples that are floating-point numbers, or integers of more than 16 bits, of a
     * TIFF is from the 0.1st to the 99.9th percentile of its colours, which a warning says. */
    bool range_percentile;
    enum gf_tiff_compression tiff_compression;
    /* The file of an ICC profile for CMYK pictures without a profile; NULL: such pictures become
     * RGB by (1 - ink)(1 - black). The file is read once; the string must live as long as the
     * pipeline. */
    const char *cmyk_profile;
    double timeout_s; /* a picture that takes longer is GF_ERROR_INPUT; 0: no limit. One call of
                       * a codec's library is not interrupted unless it runs in a cell, and a kernel
                       * is not either */
    uint64_t max_output_bytes; /* an output that would be larger is GF_ERROR_UNFIT; 0: no limit */
    uint64_t formats; /* the formats that are read, as bits 1 << enum gf_file_format, also of second
                       * pictures; inputs of other formats are GF_ERROR_INPUT. 0: all */
    /* The path of the program gpufilter, which the cells run; needed unless sandbox is
     * GF_SANDBOX_OFF. The string must last as long as the pipeline. */
    const char *sandbox_program;
    enum gf_sandbox sandbox;
    /* The colours of a PNG, or of each frame of a GIF, are reduced to at most so many,
     * 2..GF_PNG_COLOURS_MAX, which become its palette; a picture that has no more is unchanged. 0:
     * they are not reduced. */
    int png_colours;
    /* The best quality of a JPEG, WebP, AVIF, JPEG XL or JPEG 2000 whose file has at most so many
     * bytes, found by up to seven trials of the CPU's encoder, takes the place of `quality`;
     * GF_ERROR_UNFIT if quality 1 takes more. With a target below, a lower quality that reaches it
     * is taken; a warning says if none does. 0: `quality` counts. Other formats are
     * GF_ERROR_USAGE. */
    uint64_t max_bytes;
    /* The least quality, found by three to five trials as a rule, with at least this SSIM to the
     * filtered picture takes the place of `quality`, for the same formats; GF_ERROR_UNFIT if no
     * quality has it. 0: `quality` counts. */
    double target_ssim;
    /* Metadata that is not written, as bits 1 << enum gf_metadata_item. If `kept` is not 0, only
     * its items are written, less those of `stripped`, unless that has all items; of EXIF that is
     * not kept, a small block with the kept items remains. Colours whose profile is not written are
     * converted to sRGB by Little CMS. Where they are not (options.lossless, a build without Little
     * CMS, HDR), their profile is written, with a warning. */
    uint64_t stripped, kept;
    /* The values that become black and white of a TIFF whose samples are floating-point numbers, or
     * integers of more than 16 bits. Both 0: 0 and 1, or the whole range of the integers; a warning
     * tells of samples outside. Other files of floats are then refused (GF_ERROR_UNFIT). */
    double range_low, range_high;
    /* Bits of a sample in the file that is written: 1 (gray without alpha becomes black and white),
     * 8, 10, 12 or 16, or GF_DEPTH_FLOAT16 or GF_DEPTH_FLOAT32, GF_ERROR_USAGE if the format has no
     * such samples; GF_DEPTH_AUTO: as many as
     * the input has, as far as the format can store them; 0: as many as the picture in memory has,
     * 8 or 16 (floats become 16 where the format has none), but 8 after the filter thumbnail, and
     * in an AVIF as many as the input has. */
    int depth;
    bool dither; /* if samples lose bits, neighbours are rounded up or down in a regular pattern */
    /* An animation whose file is lossless becomes a lossless one in formats that can be, unless a
     * quality is chosen: by this member, by a `quality` that is not the default, or by max_bytes or
     * a target, beside which this member is GF_ERROR_USAGE. */
    bool quality_chosen;
    bool no_dither; /* palettes get the nearest colours, without the dither that they get else */
    /* An output file gets the times of the last access and change of its input's file; of a member
     * of an archive, only that of the last change. What has no file keeps no times. */
    bool keep_times;
    enum gf_gain_map gain_map;
    /* The matrix and the range of the samples of a Y4M that is read or written, as bits 1 << enum
     * gf_yuv_item, at most one of either. Without a matrix it is BT.709 from 720 rows on, and
     * BT.601 below; without a range it is what the header says, or else full for gray and limited
     * for colours. */
    uint32_t yuv;
    /* Facts that are written in the metadata in place of the input's, also with `strip`: lines
     * "KEY=TEXT" of UTF-8, with '\n' between them. The keys are copyright, artist, description and
     * date
     * ("2024-05-01" or "2024-05-01T12:30:00+02:00", when the picture was taken). EXIF, XMP and IPTC
     * get them, as far as the format has these. NULL: none. The string must live as long as the
     * pipeline. */
    const char *set;
    /* The output is a pyramid of tiles in a folder, in a zip, or in a TIFF:
     * "[LAYOUT][:shrink=area|lanczos3][:overlap=N][:id=URL]", where LAYOUT is dz, zoomify, google,
     * iiif, iiif3, cog or subifds; "": the layout follows from the output's name; that of a TIFF is
     * pages. NULL: none, unless the name ends in .dzi or .szi. The string must live as long as the
     * pipeline. */
    const char *pyramid;
    /* As target_ssim, for the score of SSIMULACRA2, 100 at most, which takes samples for sRGB. One
     * of both can be set. */
    double target_ssimulacra2;
};

/* Sets the first `size` bytes of *options to the defaults; members that this library does not know
 * become zero. gf_options_default() calls it, and so do languages that cannot call an inline
 * function. */
GF_API void gf_options_init(struct gf_options *options, size_t size);

/* Returns the defaults: GF_DEVICE_AUTO, at most 1e9 pixels, autorotate, JPEG quality 90, PNG level
 * 1; everything else is 0, false or NULL. */
static inline struct gf_options gf_options_default(void)
{
    struct gf_options options;
    gf_options_init(&options, sizeof options);
    return options;
}

#ifdef __cplusplus
}
#endif
#endif
