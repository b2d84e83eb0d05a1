/* Slides of one file, which OpenSlide opens by its name: as a whole or, by the size, a level. What
 * fails in OpenSlide itself is no fault of this project, but ends the target all the same. */
#include <unistd.h>

/* OpenSlide tries to allocate whatever a tag's count asks for, and the sanitizer marks it all. */
#define FUZZ_ASAN_MORE ":max_allocation_size_mb=64"
#include "fuzz.h"

static char path[] = "/tmp/fuzz_slide.XXXXXX";

static void remove_file(void)
{
    unlink(path);
}

/* A file in memory has no name that OpenSlide could open. */
static void put_file(const void *data, size_t size)
{
    static int fd = -1;
    if (fd < 0) {
        fd = mkstemp(path);
        atexit(remove_file);
    }
    FUZZ_CHECK(!ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size, "%s", path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    struct gf_image image;
    options.formats = 1ull << GF_FILE_SLIDE;
    options.allow_truncated = size % 8 == 0;
    put_file(data, size);
    if (fuzz_ok(gf_input_open(path, false, &input, &error), &error) &&
        fuzz_ok(gf_source_open(input, &options, &source, &error), &error) &&
        fuzz_ok(gf_source_reduce(source, gf_source_reduction(source, 1 << size % 4), &error),
                &error) &&
        fuzz_ok(fuzz_read(source, &image, &error), &error))
        free(image.data);
    if (source)
        source->close(source);
    gf_input_close(input);
    return 0;
}
