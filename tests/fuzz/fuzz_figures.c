/* The file that keeps this machine's figures: whatever it holds, a figure that is read is a
 * possible one, and figures that are kept are read again. The first byte says which of the lines
 * that the file needs are right. */
#include "fuzz.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "batch/devices/figures.h"

enum { FIRST_LINES = 1, CHECK = 2, KEEP = 4 };

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
    char *text = NULL;
    size_t size = 0;
    FILE *const memory = open_memstream(&text, &size), *const written = fopen(file.path, "w");
    FUZZ_CHECK(memory && written, "%s", file.path);
    if (how & FIRST_LINES)
        fprintf(memory, "gpufilter figures 2\n%s\n", file.machine);
    fwrite(bytes->data, 1, bytes->size, memory);
    fflush(memory);
    if (how & CHECK)
        fprintf(memory, "check %016llx\n", (unsigned long long)gf_hash(GF_HASH_START, text, size));
    fclose(memory);
    fwrite(text, 1, size, written);
    fclose(written);
    free(text);
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
    struct gf_figures before, measured = {0}, after;
    struct gf_error error = {0};
    const unsigned how = fuzz_byte(&bytes);
    if (!*file.path)
        prepare_cache();
    write_file(&bytes, how);
    load(&before);
    if (!(how & KEEP))
        return 0;
    measured.calibrated[0] = gf_figure_info(0).declared;
    FUZZ_CHECK(gf_figures_keep(&measured, &error), "%s", error.text);
    load(&after);
    for (int i = 0; i < gf_figure_count(); i++) {
        const double kept = i ? before.calibrated[i] : measured.calibrated[0];
        FUZZ_CHECK(after.calibrated[i] >= kept * 0.99999 && after.calibrated[i] <= kept * 1.00001,
                   "%s is %g after %g", gf_figure_info(i).name, after.calibrated[i], kept);
    }
    return 0;
}
