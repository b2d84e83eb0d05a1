/* Reading PNG beside libpng: what libpng refuses before the end of the pixels is refused, what it
 * accepts without a word about the pixels is read, and both give the same pixels. */
#include "codec/png/deflate/deflate.h"
#include "fuzz.h"
#include "libpng_reference.h"
#include "png_mutator.h"

/* Of what deflate.h takes and zlib refuses: ISA-L accepts codes that leave bit patterns without a
 * meaning, "invalid distances set" and the like. */
static bool is_known(const char *text)
{
    return !strcmp(gf_inflate_name, "ISA-L") && strstr(text, "s set");
}

/* libpng says nothing where the checksum behind the pixels is missing, and not always where it is
 * wrong. The program refuses that, and keeps all rows but the last if it is told to. */
static bool is_checksum(const char *text)
{
    return strstr(text, "Not enough image data") || strstr(text, "incorrect data check");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < PNG_HEAD || memcmp(data, "\x89PNG\r\n\x1a\n", PNG_HEAD) != 0)
        return 0;
    struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    struct gf_image ours = {0}, theirs = {0};
    struct reference reference = {.data = data, .size = size};
    const enum reference_verdict verdict = reference_read(&reference, &theirs);
    enum gf_status status = fuzz_decode(data, size, &options, &ours, &error);
    if (verdict <= REFERENCE_TOO_LARGE && !is_known(reference.text))
        FUZZ_CHECK(status, "libpng: %s", reference.text);
    if (verdict == REFERENCE_ACCEPTS && status && is_checksum(error.text)) {
        options.allow_truncated = true;
        status = fuzz_decode(data, size, &options, &ours, &error);
        ours.format.height--;
        theirs.format.height--;
    }
    if (verdict == REFERENCE_ACCEPTS) /* libpng takes unknown chunks before IHDR */
        FUZZ_CHECK(!status || strstr(error.text, "missing IHDR"), "%s", error.text);
    if (!status && theirs.data)
        fuzz_check_same(&ours, &theirs);
    if (!status)
        free(ours.data);
    free(theirs.data);
    return 0;
}
