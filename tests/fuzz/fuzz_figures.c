/* The file that keeps this machine's figures: whatever it holds, a figure that is read is a
 * possible one, and figures that are kept are read again. The first byte says whether the lines
 * that the file needs are there. */
#include "fuzz.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "batch/devices/figures.h"

enum { FIRST_LINES = 1, KEEP = 2 };

static struct gf_figures_file file;
static char cache[] = "/tmp/gpufilter-fuzz-XXXXXX";

static void remove_cache(void)
{
    unlink(file.path);
    *strrchr(file.path, '/') = '\0';
    rmdir(file.path);
    rmdir(cache);
}

static void prepare_cache(void)
{
    char path[80];
    FUZZ_CHECK(mkdtemp(cache) && !setenv("XDG_CACHE_HOME", cache, 1), "%s", cache);
    snprintf(path, sizeof path, "%s/gpufilter", cache);
    FUZZ_CHECK(!mkdir(path, 0700) && gf_figures_file_find(&file), "%s", path);
    atexit(remove_cache);
}

static void write_file(const struct fuzz_bytes *bytes, unsigned how)
{
    FILE *const written = fopen(file.path, "w");
    FUZZ_CHECK(written, "%s", file.path);
    if (how & FIRST_LINES)
        fprintf(written, "gpufilter figures 3 %016llx\n%s\n",
                (unsigned long long)gf_hash(GF_HASH_START, bytes->data, bytes->size), file.machine);
    fwrite(bytes->data, 1, bytes->size, written);
    fclose(written);
}

static void load(struct gf_figures *figures)
{
    gf_figures_load(figures);
    for (int i = 0; i < gf_figure_count(); i++) {
        const struct gf_figure_info info = gf_figure_info(i);
        const double value = figures->calibrated[i];
        FUZZ_CHECK(value == 0 || (value >= info.least && value <= info.greatest), "%s is %g",
                   info.name, value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    struct gf_figures measured, after;
    struct gf_error error = {0};
    const unsigned how = fuzz_byte(&bytes);
    if (!*file.path)
        prepare_cache();
    write_file(&bytes, how);
    load(&measured);
    if (!(how & KEEP))
        return 0;
    measured.calibrated[0] = gf_figure_info(0).declared;
    FUZZ_CHECK(gf_figures_keep(&measured, &error), "%s", error.text);
    load(&after);
    for (int i = 0; i < gf_figure_count(); i++) {
        const double kept = measured.calibrated[i];
        FUZZ_CHECK(after.calibrated[i] >= kept * 0.99999 && after.calibrated[i] <= kept * 1.00001,
                   "%s is %g after %g", gf_figure_info(i).name, after.calibrated[i], kept);
    }
    return 0;
}
