/* Whether a raw photograph has all of its samples: LibRaw does not say so of every format. */
#pragma once

#include <stdbool.h>

#include "codec/common/texts.h"

/* Whether the strips and tiles of the sensor's samples lie within the file. *known becomes false if
 * no directory says where they are. */
bool gf_raw_ends(const struct gf_blob *file, bool *known);
