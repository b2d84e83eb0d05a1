#include "codec/camera_raw.h"

#include <string.h>

#include "codec/common/ifd.h"

enum {
    TAG_PHOTOMETRIC = 262,
    TAG_BELOW = 330, /* offsets of further directories */
    TAG_DNG_VERSION = 50706,
    BELOW_MOST = 16 /* the most further directories that are searched */
};

static bool is_sensor(const struct gf_ifd_reader *reader, uint64_t directory)
{
    enum { COLOUR_FILTER_ARRAY = 32803, LINEAR_RAW = 34892 };
    const uint64_t photometric = gf_ifd_link(reader, directory, TAG_PHOTOMETRIC);
    return photometric == COLOUR_FILTER_ARRAY || photometric == LINEAR_RAW;
}

bool gf_is_camera_raw(struct gf_input *input)
{
    uint64_t first, number[BELOW_MOST];
    char mark[4] = "";
    const struct gf_ifd_reader reader = gf_ifd_reader_of(input, &first);
    if (first &&
        (gf_ifd_numbers(&reader, first, TAG_DNG_VERSION, number, 1) || is_sensor(&reader, first) ||
         (reader.read(reader.context, 8, mark, sizeof mark) && !memcmp(mark, "CR\2", 4))))
        return true;
    const size_t below = first ? gf_ifd_numbers(&reader, first, TAG_BELOW, number, BELOW_MOST) : 0;
    for (size_t i = 0; i < below; i++) {
        if (is_sensor(&reader, number[i]))
            return true;
    }
    return false;
}
