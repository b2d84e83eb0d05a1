#include "icc/icc.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/files.h"

const char *const gf_icc_names[] = {"srgb", "display-p3", "linear-srgb", "acescg", NULL};
static const struct gf_icc_space *const spaces[] = {&gf_icc_srgb, &gf_icc_display_p3,
                                                    &gf_icc_linear_srgb, &gf_icc_acescg};
enum { NAMES = 4, GRAY = 1, INKS = 4, FILE_MOST = 64 << 20, HEADER = 128 };

static unsigned char made[NAMES][2][GF_ICC_MADE_MOST];
static size_t made_size[NAMES][2];

static void make_all(void)
{
    for (int i = 0; i < NAMES; i++) {
        for (int gray = 0; gray <= GRAY; gray++)
            made_size[i][gray] = gf_icc_make(spaces[i], gray, made[i][gray]);
    }
}

static struct gf_icc made_profile(int index, bool gray)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_all);
    return (struct gf_icc){.data = made[index][gray], .size = made_size[index][gray]};
}

struct gf_icc gf_icc_named(const char *name, bool gray)
{
    for (int i = 0; i < NAMES; i++) {
        if (!strcasecmp(name, gf_icc_names[i]))
            return made_profile(i, gray);
    }
    return (struct gf_icc){0};
}

bool gf_icc_same(struct gf_icc a, struct gf_icc b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

const struct gf_icc_space *gf_icc_space_of(struct gf_icc icc)
{
    for (int i = 0; i < NAMES; i++) {
        if (gf_icc_same(icc, made_profile(i, false)) || gf_icc_same(icc, made_profile(i, true)))
            return spaces[i];
    }
    return NULL;
}

bool gf_icc_is_made(struct gf_icc icc)
{
    return gf_icc_space_of(icc);
}

static int channels_of(const unsigned char *space)
{
    return !memcmp(space, "GRAY", 4)   ? 1
           : !memcmp(space, "RGB ", 4) ? 3
           : !memcmp(space, "CMYK", 4) ? 4
                                       : 0;
}

static bool is_profile(struct gf_icc icc)
{
    return icc.size >= HEADER && !memcmp(icc.data + 36, "acsp", 4);
}

bool gf_icc_fits(struct gf_icc icc, int channels)
{
    return is_profile(icc) && channels_of(icc.data + 16) == channels;
}

static bool has_class(struct gf_icc icc, const char *name)
{
    return is_profile(icc) && !memcmp(icc.data + 12, name, 4);
}

bool gf_icc_is_link(struct gf_icc icc)
{
    return has_class(icc, "link");
}

int gf_icc_channels_after(struct gf_icc icc)
{
    return is_profile(icc) ? channels_of(icc.data + (gf_icc_is_link(icc) ? 20 : 16)) : 0;
}

struct gf_icc gf_icc_for(struct gf_icc icc, int channels)
{
    for (int i = 0; i < NAMES; i++) {
        if (gf_icc_same(icc, made_profile(i, channels != 1)))
            return made_profile(i, channels == 1);
    }
    return icc;
}

/* The profiles that were read from files. They are kept until the process ends, since stages have
 * pointers to their bytes. */
struct loaded {
    struct loaded *next;
    struct gf_file_identity identity;
    struct gf_icc icc;
};
static struct loaded *loaded;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static enum gf_status fail_to_read(const char *name, struct gf_error *error)
{
    return gf_fail(error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_READ), "%s: %s", name,
                   strerror(errno));
}

static enum gf_status load(int fd, const char *name, const struct gf_file_identity *identity,
                           struct loaded **found, struct gf_error *error)
{
    struct gf_error detail = {0};
    unsigned char *data;
    size_t size;
    *found = malloc(sizeof **found);
    GF_ALLOCATED(*found, error);
    const enum gf_status status =
        gf_named_file_read(fd, FILE_MOST, GF_ERROR_INPUT, &data, &size, &detail);
    if (status) {
        free(*found);
        return gf_fail(error, status, "%s: %s", name, detail.text);
    }
    **found =
        (struct loaded){.next = loaded, .identity = *identity, .icc = {.data = data, .size = size}};
    loaded = *found;
    return GF_OK;
}

static enum gf_status find_open(int fd, const char *name, struct gf_icc *icc,
                                struct gf_error *error)
{
    struct stat about;
    if (fstat(fd, &about))
        return fail_to_read(name, error);
    if (!S_ISREG(about.st_mode))
        return gf_fail(error, GF_ERROR_INPUT, "%s: not a file", name);
    const struct gf_file_identity identity = gf_file_identify(&about);
    enum gf_status status = GF_OK;
    pthread_mutex_lock(&loading);
    struct loaded *found = loaded;
    while (found && !gf_file_is_same(&found->identity, &identity))
        found = found->next;
    if (!found)
        status = load(fd, name, &identity, &found, error);
    if (!status)
        *icc = found->icc;
    pthread_mutex_unlock(&loading);
    return status;
}

static _Thread_local const char *handed_name;
static _Thread_local const struct gf_icc *handed;

void gf_icc_hand(const char *name, const struct gf_icc *icc)
{
    handed_name = name;
    handed = icc;
}

/* Refuses profiles of kinds that do not describe the colours of a device, such as iccMAX or named
 * colours. */
static enum gf_status check_kind(const char *name, struct gf_icc icc, struct gf_error *error)
{
    const char *const kind = !is_profile(icc)         ? NULL
                             : icc.data[8] > 4        ? "an iccMAX profile (version 5)"
                             : has_class(icc, "nmcl") ? "a profile of named colours"
                             : has_class(icc, "abst") ? "an abstract profile"
                                                      : NULL;
    return kind ? gf_fail(error, GF_ERROR_INPUT, "%s: %s, which is not used", name, kind) : GF_OK;
}

static enum gf_status find(const char *name, struct gf_icc *icc, struct gf_error *error)
{
    if (handed && !strcmp(name, handed_name)) {
        *icc = *handed;
        return GF_OK;
    }
    /* O_NONBLOCK is set because opening a pipe without a writer would wait. */
    const int fd = gf_named_file_open(name, O_NONBLOCK);
    if (fd < 0)
        return fail_to_read(name, error);
    const enum gf_status status = find_open(fd, name, icc, error);
    close(fd);
    return status ? status : check_kind(name, *icc, error);
}

enum gf_status gf_icc_load(const char *name, bool gray, struct gf_icc *icc, struct gf_error *error)
{
    *icc = gf_icc_named(name, gray);
    if (icc->size)
        return GF_OK;
    GF_TRY(find(name, icc, error));
    return !gf_icc_is_link(*icc) && (gf_icc_fits(*icc, 1) || gf_icc_fits(*icc, 3))
               ? GF_OK
               : gf_fail(error, GF_ERROR_INPUT, "%s: not an ICC profile of RGB or gray colours",
                         name);
}

enum gf_status gf_icc_load_target(const char *name, bool gray, struct gf_icc *icc,
                                  struct gf_error *error)
{
    *icc = gf_icc_named(name, gray);
    if (icc->size)
        return GF_OK;
    GF_TRY(find(name, icc, error));
    if (!gf_icc_channels_after(*icc))
        return gf_fail(error, GF_ERROR_INPUT, "%s: not an ICC profile of RGB, gray or CMYK colours",
                       name);
    if (gf_icc_is_link(*icc) && gf_icc_fits(*icc, INKS))
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: a device link from CMYK, and pictures are RGB once they are read",
                       name);
    icc->inks = gf_icc_channels_after(*icc) == INKS;
    return GF_OK;
}

enum gf_status gf_icc_load_inks(const char *name, struct gf_icc *icc, struct gf_error *error)
{
    const enum gf_status status = find(name, icc, error);
    const bool fits = !status && gf_icc_fits(*icc, INKS) &&
                      (!gf_icc_is_link(*icc) || gf_icc_channels_after(*icc) == 3);
    return status || fits ? status
                          : gf_fail(error, GF_ERROR_INPUT, "%s: not an ICC profile of CMYK", name);
}

struct block {
    const unsigned char *data;
    size_t size;
};

static size_t number(struct block block, size_t at)
{
    size_t value = 0;
    for (size_t i = at; i < at + 4; i++)
        value = value << 8 | (i < block.size ? block.data[i] : 0);
    return value;
}

/* Returns `size` bytes of the block from offset `at` on; an empty block if they are not all within
 * it. */
static struct block part(struct block block, size_t at, size_t size)
{
    return at <= block.size && size <= block.size - at ? (struct block){block.data + at, size}
                                                       : (struct block){0};
}

static struct block find_tag(struct block profile, const char *name)
{
    enum { COUNT_AT = 128, TAGS_AT = 132, TAG_BYTES = 12, TAGS_MOST = 200 };
    const size_t count = number(profile, COUNT_AT);
    for (size_t i = 0; i < count && i < TAGS_MOST; i++) {
        const struct block tag = part(profile, TAGS_AT + i * TAG_BYTES, TAG_BYTES);
        if (tag.size && !memcmp(tag.data, name, 4))
            return part(profile, number(tag, 4), number(tag, 8));
    }
    return (struct block){0};
}

const unsigned char *gf_icc_tag(struct gf_icc icc, const char *name, size_t *size)
{
    const struct block tag = find_tag((struct block){icc.data, icc.size}, name);
    *size = tag.size;
    return tag.data;
}

/* Whether the tag of a curve says that samples are light. */
static bool is_line(struct gf_icc icc, const char *name)
{
    static const struct {
        const char *bytes;
        size_t size;
    } lines[] = {{"curv\0\0\0\0\0\0\0\0", 12},
                 {"curv\0\0\0\0\0\0\0\1\1\0", 14},
                 {"curv\0\0\0\0\0\0\0\2\0\0\377\377", 16},
                 {"para\0\0\0\0\0\0\0\0\0\1\0\0", 16},
                 {"para\0\0\0\0\0\3\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0", 32}};
    size_t size;
    const unsigned char *const tag = gf_icc_tag(icc, name, &size);
    for (size_t i = 0; tag && i < sizeof lines / sizeof *lines; i++) {
        if (size >= lines[i].size && !memcmp(tag, lines[i].bytes, lines[i].size))
            return true;
    }
    return false;
}

/* Reads ICC's s15Fixed16Numbers behind the head of a tag. Returns false if it has fewer. */
static bool read_fixed(struct gf_icc icc, const char *name, int count, double *value)
{
    const struct block tag = find_tag((struct block){icc.data, icc.size}, name);
    if (tag.size < 8 + 4 * (size_t)count)
        return false;
    for (int i = 0; i < count; i++)
        value[i] = (int32_t)number(tag, 8 + 4 * (size_t)i) / 65536.0;
    return true;
}

bool gf_icc_find_linear(struct gf_icc icc, struct gf_icc_space *space)
{
    static const char *const curves[] = {"gTRC", "rTRC", "gTRC", "bTRC"}, *const colours[] = {
                                                                              "", "rXYZ", "gXYZ",
                                                                              "bXYZ"};
    double adaptation[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, back[3][3];
    double *const point[] = {space->white, space->red, space->green, space->blue};
    size_t size;
    *space = gf_icc_linear_srgb;
    if (gf_icc_fits(icc, 1))
        return is_line(icc, "kTRC");
    (void)read_fixed(icc, "chad", 9, adaptation[0]);
    if (gf_icc_tag(icc, "A2B0", &size) || !(gf_icc_adjugate(adaptation, back) > 0))
        return false;
    for (int i = 0; i < 4; i++) {
        double v[3] = {0xf6d6 / 65536.0, 1, 0xd32d / 65536.0}, xyz[3], sum = 0;
        if (!is_line(icc, curves[i]) || (i && !read_fixed(icc, colours[i], 3, v)))
            return false;
        for (int k = 0; k < 3; k++) {
            xyz[k] = back[k][0] * v[0] + back[k][1] * v[1] + back[k][2] * v[2];
            sum += xyz[k];
        }
        if (!(sum > 0))
            return false;
        point[i][0] = xyz[0] / sum;
        point[i][1] = xyz[1] / sum;
    }
    return true;
}

/* Converts UTF-16 (big endian) to UTF-8. A character beyond 16 bits becomes two question marks. */
static void put_utf16(struct block from, char text[GF_ICC_TEXT_SIZE])
{
    size_t length = 0;
    for (size_t i = 0; i + 1 < from.size && length < GF_ICC_TEXT_SIZE - 3; i += 2) {
        const unsigned c = (unsigned)(from.data[i] << 8 | from.data[i + 1]);
        if (!c)
            break;
        if (c < 0x80 || (c >= 0xd800 && c < 0xe000)) {
            text[length++] = (char)(c < 0x80 ? c : '?');
            continue;
        }
        if (c >= 0x800)
            text[length++] = (char)(0xe0 | c >> 12);
        text[length++] = (char)(c < 0x800 ? 0xc0 | c >> 6 : 0x80 | (c >> 6 & 63));
        text[length++] = (char)(0x80 | (c & 63));
    }
    text[length] = '\0';
}

/* Returns the English text of a tag with texts in several languages, or else the first text. */
static struct block choose_text(struct block tag)
{
    enum { RECORDS_AT = 16, RECORD_BYTES = 12, RECORDS_MOST = 100 };
    const size_t count = number(tag, 8);
    struct block chosen = {0};
    for (size_t i = 0; i < count && i < RECORDS_MOST; i++) {
        const struct block record = part(tag, RECORDS_AT + i * RECORD_BYTES, RECORD_BYTES);
        const bool english = record.size && !memcmp(record.data, "en", 2);
        if (!i || english)
            chosen = part(tag, number(record, 8), number(record, 4));
        if (english)
            break;
    }
    return chosen;
}

void gf_icc_text(struct gf_icc icc, char text[GF_ICC_TEXT_SIZE])
{
    enum { ASCII_AT = 12 };
    const struct block tag = find_tag((struct block){icc.data, icc.size}, "desc");
    text[0] = '\0';
    if (tag.size > ASCII_AT && !memcmp(tag.data, "mluc", 4))
        put_utf16(choose_text(tag), text);
    if (tag.size <= ASCII_AT || memcmp(tag.data, "desc", 4) != 0)
        return;
    const size_t room = tag.size - ASCII_AT, most = GF_ICC_TEXT_SIZE - 1;
    const size_t length = strnlen((const char *)tag.data + ASCII_AT, room < most ? room : most);
    memcpy(text, tag.data + ASCII_AT, length);
    text[length] = '\0';
}
