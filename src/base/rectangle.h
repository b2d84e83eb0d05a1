/* A rectangle of a picture, in pixels. */
#pragma once

struct gf_rectangle {
    int x, y, width, height;
};
