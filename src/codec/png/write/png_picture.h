/* Writes a PNG of one picture; png_animate.c, which has gf_png_sink_open(), makes animations of
 * them.
 */
#pragma once

#include "codec/common/opening.h"

gf_sink_opener gf_png_picture_sink_open;
