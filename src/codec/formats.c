/* The table of the picture formats. */
#include "codec/formats.h"

#include <string.h>
#include <strings.h>
#ifdef GF_LIBRARY_avif
#include <avif/avif.h>
#endif

/* ---- recognising formats whose own code has no function for that ---- */

/* "P1" to "P6" must be followed by white space and then by a number or a comment, because a text
 * may begin with "P6 is how". */
static bool is_pnm(const unsigned char *bytes, size_t size)
{
    return size >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
           memchr(" \t\r\n\v\f#", bytes[2], 7) &&
           (size == 3 || bytes[2] == '#' || memchr(" \t\r\n\v\f#0123456789", bytes[3], 17));
}

/* The bytes "BM" alone are too little evidence: the size of the header, a 32-bit number at byte 14,
 * must be one of those that BMP has. */
static bool is_bmp(const unsigned char *bytes, size_t size)
{
    if (size < 18)
        return size > 2 && !memcmp(bytes, "BM", 2);
    return !memcmp(bytes, "BM", 2) && !bytes[15] && !bytes[16] && !bytes[17] &&
           memchr("\14\20\50\64\70\100\154\174", bytes[14], 8);
}

/* Searches the list of brands, because the first brand "mif1" does not say how the picture is
 * coded. */
static bool has_brand(const unsigned char *bytes, size_t size, const char *brand)
{
    size_t end = size >= 4 ? (size_t)(bytes[2] << 8 | bytes[3]) : 0;
    end = end < size ? end : size;
    for (size_t at = 8; at + 4 <= end; at += 4) {
        if (!memcmp(bytes + at, brand, 4))
            return true;
    }
    return false;
}

static bool is_heif(const unsigned char *bytes, size_t size)
{
    return size >= 12 && !memcmp(bytes + 4, "ftyp", 4) &&
           (!memcmp(bytes + 8, "mif1", 4) || !memcmp(bytes + 8, "mif2", 4) ||
            !memcmp(bytes + 8, "msf1", 4));
}

static bool is_avif(const unsigned char *bytes, size_t size)
{
    return is_heif(bytes, size) &&
           (has_brand(bytes, size, "avif") || has_brand(bytes, size, "avis"));
}

#define KEEPS_BLOCKS (GF_KIND_ICC | GF_KIND_EXIF | GF_KIND_XMP | GF_KIND_ORIENTATION)
#if defined GF_LIBRARY_avif && AVIF_VERSION_MAJOR >= 1
#define KEEPS_AVIF (KEEPS_BLOCKS | GF_KIND_LIGHT)
#else
#define KEEPS_AVIF KEEPS_BLOCKS
#endif

/* GF_BY_LIBRARY(webp, functions) is `functions` if the build has the folder webp, else nothing.
 * GF_WITH_webp is then a comma, so that HELD is the third argument of THIRD; otherwise it is an
 * undefined name, and LEFT_OUT is the third. */
#define HELD(...) __VA_ARGS__
#define LEFT_OUT(...)
#define THIRD(first, second, third, ...) third
#define CHOOSE(...) THIRD(__VA_ARGS__)
#define GF_BY_LIBRARY(folder, functions) CHOOSE(GF_WITH_##folder, HELD, LEFT_OUT, )(functions)
#define GF_OPENS(name) .open = name,
#define GF_CREATES(name) .create = name,
#define GF_TAKES_MEMORY(name) .sink_memory = name,
#define GF_LOADS(name_) .library = &name_,
#define GF_NAMES(name) .folder = name,
/* clang-format off */
#define GF_FORMAT_READ(id, choice_, name_, functions, ...) \
    {.format = GF_FILE_##id, .choice = (choice_), .name = (name_), functions __VA_ARGS__},
#define GF_FORMAT_READ_WRITE GF_FORMAT_READ
static const struct gf_file_type types[] = {
#include "codec/common/formats.def"
};
/* clang-format on */
enum { TYPE_COUNT = sizeof types / sizeof *types };
_Static_assert(TYPE_COUNT == GF_FILE_COUNT - 1, "formats.def has all formats but GF_FILE_AUTO");

const struct gf_file_type *gf_file_type_at(int index)
{
    return index >= 0 && index < TYPE_COUNT ? &types[index] : NULL;
}

const struct gf_file_type *gf_file_type(enum gf_file_format format)
{
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (types[i].format == format)
            return &types[i];
    }
    return NULL;
}

bool gf_word_in_list(const char *list, const char *word)
{
    const size_t length = strlen(word);
    while (list && *list) {
        const size_t next = strcspn(list, " ");
        if (length && next == length && !strncasecmp(list, word, length))
            return true;
        list += next + (list[next] == ' ');
    }
    return false;
}

bool gf_file_type_ignores(const struct gf_file_type *type, const struct gf_options *options,
                          const char *option)
{
    const bool by_jpeg = type->jpeg_takes && (options->tiff_compression == GF_TIFF_JPEG ||
                                              options->tiff_compression == GF_TIFF_WEBP);
    bool any = false;
    for (int i = 0; i < TYPE_COUNT; i++)
        any |= gf_word_in_list(types[i].takes, option);
    return any && !gf_word_in_list(by_jpeg ? type->jpeg_takes : type->takes, option);
}

/* ---- formats that the program knows but does not read ---- */

static const struct gf_foreign foreign[] = {
#define FOREIGN(name_, bytes_) \
    { \
        .name = (name_), .bytes = (bytes_), .length = sizeof(bytes_) - 1 \
    }
#define PIPED(name_, bytes_, extensions_, command_) \
    { \
        .name = (name_), .bytes = (bytes_), .length = sizeof(bytes_) - 1, \
        .extensions = (extensions_), .command = (command_) \
    }
#define FILM(name_, bytes_, extensions_) \
    { \
        .name = (name_), .bytes = (bytes_), .length = sizeof(bytes_) - 1, \
        .extensions = (extensions_), .is_film = true \
    }
    PIPED("PDF", "%PDF-", "pdf", "pdftoppm -png -r 150"),
    PIPED("SVG", "<svg", "svg svgz", "rsvg-convert"),
    FOREIGN("JPEG XR", "II\xbc\x01"),
    FOREIGN("Photoshop", "8BPS"),
    FOREIGN("PostScript", "%!PS"),
    FOREIGN("DDS", "DDS "),
    FOREIGN("FITS", "SIMPLE  ="),
    FOREIGN("Windows icon", "\0\0\1\0"),
    FOREIGN("MNG", "\x8aMNG"),
    FOREIGN("HEIF with a small header (mini)", "\0\0\0\20ftypmif3"),
    FILM("MP4 or QuickTime", "", "mp4 m4v mov"),
    FILM("Matroska or WebM", "\x1a\x45\xdf\xa3", "mkv webm"),
#undef FOREIGN
#undef PIPED
#undef FILM
};
enum { FOREIGN_COUNT = sizeof foreign / sizeof *foreign };

/* Whether the text, which may begin with a byte order mark and white space, is XML with an svg
 * element in it. */
static bool is_svg(const unsigned char *bytes, size_t size)
{
    size_t at = size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < size && memchr(" \t\r\n", bytes[at], 4))
        at++;
    return at < size && bytes[at] == '<' && memmem(bytes + at, size - at, "<svg", 4);
}

/* Whether a file begins with a box of MP4 or QuickTime. Pictures in such boxes (HEIC, AVIF) were
 * recognised by their brands before. */
static bool is_mp4(const unsigned char *bytes, size_t size)
{
    return size >= 12 && (!memcmp(bytes + 4, "ftyp", 4) || !memcmp(bytes + 4, "moov", 4) ||
                          !memcmp(bytes + 4, "mdat", 4) || !memcmp(bytes + 4, "wide", 4));
}

const struct gf_foreign *gf_foreign_format(const unsigned char *bytes, size_t size)
{
    const bool svg = is_svg(bytes, size);
    if (is_mp4(bytes, size))
        return gf_foreign_named("mp4");
    for (int i = 0; i < FOREIGN_COUNT; i++) {
        if (svg ? !strcmp(foreign[i].name, "SVG")
                : foreign[i].length && size >= foreign[i].length &&
                      !memcmp(bytes, foreign[i].bytes, foreign[i].length))
            return &foreign[i];
    }
    return NULL;
}

const struct gf_foreign *gf_foreign_named(const char *extension)
{
    for (int i = 0; i < FOREIGN_COUNT; i++) {
        if (foreign[i].extensions && gf_word_in_list(foreign[i].extensions, extension))
            return &foreign[i];
    }
    return NULL;
}
