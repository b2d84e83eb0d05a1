/* Pyramids whose levels a GPU makes and whose tiles it encodes: every file has the bytes that the
 * CPU writes. Skipped where there is no GPU. */
#include "gpu_test.h"

#ifdef GF_WITH_CUDA
#include "temp_folder.h"

/* A picture whose tiles differ, with noise. */
static void save_picture(const char *path, int width, int height, int channels)
{
    const struct gf_format format = format_of(width, height, channels, 8);
    struct gf_image image = picture_new(format, 0);
    uint64_t random = (uint64_t)width;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width * channels; x++)
            image.data[(size_t)y * image.pitch + (size_t)x] =
                (unsigned char)(x / 3 + 2 * y + (int)random_below(&random, 24));
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "P%d\n%d %d\n255\n", channels == 1 ? 5 : 6, width, height);
    for (int y = 0; y < height; y++)
        assert_int_equal(
            fwrite(image.data + (size_t)y * image.pitch, 1, gf_row_bytes(format), file),
            gf_row_bytes(format));
    assert_int_equal(fclose(file), 0);
    picture_free(&image);
}

/* Returns whether the GPU has encoded the tiles. */
static bool write_pyramid(const char *in, const char *out, const struct gf_options *options)
{
    struct gf_pipeline *pipeline;
    struct gf_error error = {0};
    assert_ok("open", gf_pipeline_open("invert", options, &pipeline, &error), &error);
    assert_ok(out, gf_pipeline_run_file(pipeline, in, out, &error), &error);
    const bool encoded = gf_pipeline_profile(pipeline)->device_encoded;
    gf_pipeline_close(pipeline);
    return encoded;
}

/* The same by both devices, and what differs. `gpu` and `cpu` have the same length, so that names
 * within zip files have it, too. */
static void compare_devices(const char *in, const char *ending, struct gf_options *options,
                            bool encodes)
{
    char gpu[600], cpu[600], command[1600];
    snprintf(gpu, sizeof gpu, "%s/gpu", folder);
    snprintf(cpu, sizeof cpu, "%s/cpu", folder);
    snprintf(command, sizeof command, "rm -rf '%s' '%s' && mkdir '%s' '%s'", gpu, cpu, gpu, cpu);
    assert_int_equal(system(command), 0);
    snprintf(gpu, sizeof gpu, "%s/gpu/x%s", folder, ending);
    snprintf(cpu, sizeof cpu, "%s/cpu/x%s", folder, ending);
    options->device = GF_DEVICE_CUDA;
    if (write_pyramid(in, gpu, options) != encodes)
        fail_msg("%s: the GPU has encoded %s", ending, encodes ? "nothing" : "tiles");
    options->device = GF_DEVICE_CPU;
    assert_false(write_pyramid(in, cpu, options));
    snprintf(command, sizeof command, "diff -r '%s/gpu' '%s/cpu' >&2", folder, folder);
    if (system(command))
        fail_msg("%s %s: files differ", in, ending);
}

static void tiles_have_the_same_bytes(void **state)
{
    static const int sizes[][3] = {{1, 1, 3}, {70, 300, 1}, {515, 259, 3}, {600, 777, 3}};
    need_gpu();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *const in = in_folder("in.ppm");
        save_picture(in, sizes[i][0], sizes[i][1], sizes[i][2]);
        struct gf_options options = gf_options_default();
        options.quality = i % 2 ? 75 : 92;
        options.pyramid = "dz";
        options.tile_size = i == 2 ? 0 : 62;
        compare_devices(in, ".dzi", &options, true);
        options.pyramid = "iiif3:id=https://example.org/x";
        compare_devices(in, "", &options, true);
        options.tile_size = 64;
        options.tiff_compression = GF_TIFF_JPEG;
        options.pyramid = "";
        compare_devices(in, ".tif", &options, true);
        options.pyramid = "cog";
        compare_devices(in, ".tif", &options, true);
        options.pyramid = "cog:shrink=lanczos3";
        compare_devices(in, ".tif", &options, false);
        options.pyramid = "";
        options.quality = 10;
        compare_devices(in, ".tif", &options, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_have_the_same_bytes)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
#endif
