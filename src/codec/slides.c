/* Tells slides, the gigapixels of microscopes, from other files. Most begin as a TIFF or a JPEG. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "codec/common/metadata/exif.h"
#include "codec/formats.h"

/* Whether the name ends with one of the extensions, before a choice such as "[2]". */
static bool has_extension(const char *name, const char *list)
{
    char extension[12];
    const char *const all = gf_extension_of(name);
    const size_t length = strcspn(all, "[");
    if (length >= sizeof extension)
        return false;
    memcpy(extension, all, length);
    extension[length] = '\0';
    return gf_word_in_list(list, extension);
}

/* Whether a TIFF is of a maker whose files the TIFF reader does not show as they are meant: one
 * JPEG that is too large for libjpeg (Hamamatsu), tiles that overlap or are left out (Ventana,
 * Philips), or several scans on one slide (Leica). Philips' are read without OpenSlide if they are
 * no file with a name, as it needs: the TIFF reader gives their pixels, or says that one is left
 * out. */
static bool is_slide_tiff(struct gf_input *input)
{
    enum { NDPI = 65420 };
    char path[PATH_MAX];
    uint64_t first;
    const struct gf_ifd_reader reader = gf_ifd_reader_of(input, &first);
    if (has_extension(gf_input_name(input), "ndpi scn bif"))
        return true;
    char *const software = first ? gf_ifd_text(&reader, first, GF_IFD_SOFTWARE) : NULL;
    const bool philips =
        software && !strncmp(software, "Philips", 7) && gf_input_path(input, path, sizeof path);
    free(software);
    return philips || (first && gf_ifd_has(&reader, first, NDPI));
}

bool gf_is_slide(struct gf_input *input, enum gf_file_format format)
{
    return format == GF_FILE_SLIDE ||
           (format == GF_FILE_JPEG && has_extension(gf_input_name(input), "mrxs")) ||
           (format == GF_FILE_TIFF && gf_input_size(input) >= 0 && is_slide_tiff(input));
}
