/* The inputs of the faults' scenarios: small pictures of every format, with metadata. */
#pragma once

/* Writes into the folder: rgb.ppm, gray16.pgm, rgba.pam; full.png (RGBA, interlaced, a profile,
 * EXIF with an orientation, XMP, density), palette.png, baseline.jpg and progressive.jpg (with the
 * same metadata); stream, three pictures one behind the other. */
void make_pictures(const char *folder);
