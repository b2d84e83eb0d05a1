/* Identifies the build of the program that this process runs. */
#pragma once

enum { GF_BUILD_ID_SIZE = 17 };

/* Returns an identifier of 16 hexadecimal digits and a 0. It is the same in every process of a
 * build and almost certainly different in every other build. It is a hash of the version and of the
 * identifier that the linker wrote into the program or library; without the latter it uses the
 * program file's device, number, size and time. The call takes some microseconds and reads no file.
 */
const char *gf_build_id(char text[GF_BUILD_ID_SIZE]);
