#include "codec/common/camera_raw.h"

#include <string.h>

enum {
    TAG_PHOTOMETRIC = 262,
    TAG_BELOW = 330, /* offsets of further directories */
    TAG_DNG_VERSION = 50706
};

static bool is_sensor(const struct gf_ifd_reader *reader, uint64_t directory)
{
    enum { COLOUR_FILTER_ARRAY = 32803, LINEAR_RAW = 34892 };
    const uint64_t photometric = gf_ifd_link(reader, directory, TAG_PHOTOMETRIC);
    return photometric == COLOUR_FILTER_ARRAY || photometric == LINEAR_RAW;
}

/* Canon's files have a mark behind the header of the TIFF, and then the offset of the sensor's
 * directory. */
static uint64_t canon_directory(const struct gf_ifd_reader *reader)
{
    unsigned char mark[8];
    if (!reader->read(reader->context, 8, mark, sizeof mark) || memcmp(mark, "CR\2", 4) != 0)
        return 0;
    return mark[4] | (uint64_t)mark[5] << 8 | (uint64_t)mark[6] << 16 | (uint64_t)mark[7] << 24;
}

size_t gf_sensor_directories(const struct gf_ifd_reader *reader, uint64_t first,
                             uint64_t directory[GF_SENSORS_MOST])
{
    uint64_t below[GF_SENSORS_MOST - 1];
    const uint64_t canon = canon_directory(reader);
    size_t count = 0;
    if (canon)
        directory[count++] = canon;
    else if (is_sensor(reader, first))
        directory[count++] = first;
    const size_t all = gf_ifd_numbers(reader, first, TAG_BELOW, below, GF_SENSORS_MOST - 1);
    for (size_t i = 0; i < all; i++) {
        if (is_sensor(reader, below[i]))
            directory[count++] = below[i];
    }
    return count;
}

bool gf_is_camera_raw(struct gf_input *input)
{
    uint64_t first, directory[GF_SENSORS_MOST];
    char mark[4];
    const struct gf_ifd_reader reader = gf_ifd_reader_of(input, &first);
    const bool phase_one =
        first && reader.read(reader.context, 8, mark, sizeof mark) &&
        (!memcmp(mark, "IIII", sizeof mark) || !memcmp(mark, "MMMM", sizeof mark));
    return phase_one || (first && (gf_ifd_numbers(&reader, first, TAG_DNG_VERSION, directory, 1) ||
                                   gf_sensor_directories(&reader, first, directory)));
}
