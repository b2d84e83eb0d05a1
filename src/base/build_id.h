/* Which build of the program this process runs. */
#ifndef GF_BASE_BUILD_ID_H
#define GF_BASE_BUILD_ID_H

enum { GF_BUILD_ID_SIZE = 17 };

/* An identifier of 16 hexadecimal digits and a 0, which is the same in every process of one build
 * and, as good as certainly, different in every other build. It is a hash of the version and of the
 * identifier that the linker wrote into the program; where the linker wrote none, of the program's
 * file: its device, number, size and time. The call takes some microseconds and reads no file. */
const char *gf_build_id(char text[GF_BUILD_ID_SIZE]);

#endif
