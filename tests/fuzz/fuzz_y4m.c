/* Reading Y4M: as a picture, which is written and read again, and as a film, whose frames are
 * copied byte for byte. */
#include "fuzz.h"

#include "batch/frames/film.h"

static void check_picture(const uint8_t *data, size_t size, const struct gf_options *options)
{
    struct gf_error error = {0};
    struct gf_image image, again;
    size_t written;
    if (fuzz_decode(data, size, options, &image, &error))
        return;
    uint8_t *const file = fuzz_encode(&image, GF_FILE_Y4M, NULL, options, &written);
    FUZZ_CHECK(!fuzz_decode(file, written, options, &again, &error), "%s", error.text);
    FUZZ_CHECK(again.format.width == image.format.width &&
                   again.format.height == image.format.height,
               "the size");
    free(again.data);
    free(image.data);
    free(file);
}

static void check_film(const uint8_t *data, size_t size, const struct gf_options *options)
{
    struct gf_error error = {0};
    struct gf_input *input = NULL;
    struct gf_film_reader reader = {.frames = 0};
    struct gf_film_frame frame = {0};
    bool found = true;
    FUZZ_CHECK(!gf_input_open_memory(data, size, "a.y4m", &input, &error), "%s", error.text);
    if (fuzz_ok(
            gf_film_open(&reader, input, NULL, size % 3 ? NULL : "crop=1:1:0:0", options, &error),
            &error)) {
        while (found && fuzz_ok(gf_film_read(&reader, &frame, &found, &error), &error) && found)
            FUZZ_CHECK(frame.size >= reader.frame_bytes && (size_t)gf_input_position(input) <= size,
                       "a frame");
    }
    gf_film_free_frame(&reader, &frame);
    gf_input_close(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gf_options options = fuzz_options();
    options.yuv = size % 2 ? UINT32_C(1) << size % GF_YUV_ITEMS : 0;
    if (gf_file_format_of(data, size) != GF_FILE_Y4M)
        return 0;
    check_picture(data, size, &options);
    check_film(data, size, &options);
    return 0;
}
