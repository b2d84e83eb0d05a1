/* The program itself: its exit statuses, which build of it runs, and the files that are part of
 * it. */
#pragma once

#include "gpufilter/status.h"

/* The exit statuses of the program, which tell a script what to do next. */
enum {
    GF_EXIT_DONE = 0,
    GF_EXIT_DIFFERENT = 1, /* compared pictures differ, or the program itself is at fault */
    GF_EXIT_USAGE = 2,     /* a wrong command line or chain; nothing was begun */
    GF_EXIT_ELSEWHERE = 3, /* a library or a device is missing, which another machine may have */
    GF_EXIT_INPUTS = 4,    /* all inputs were processed, and some of them are bad */
    GF_EXIT_AGAIN = 75     /* another try may succeed; the same number as EX_TEMPFAIL of
                            * sysexits.h */
};

int gf_exit_status(enum gf_status status);

/* Describes an exit status in a few words. Returns NULL for any other number. */
const char *gf_exit_meaning(int exit_status);

/* Returns the one of two statuses that decides the exit status of a run. Failures that another try
 * may mend take precedence, then something missing on this machine, then bad inputs, then GF_OK. */
enum gf_status gf_graver_status(enum gf_status a, enum gf_status b);

enum { GF_BUILD_ID_SIZE = 17 };

/* Returns an identifier of 16 hexadecimal digits and a 0. It is the same in every process of a
 * build and almost certainly different in every other build: a hash of the version and of the build
 * identifier that the linker wrote into the program or library, or, without one, of the program
 * file's device, inode, size and time. The call takes some microseconds and reads no file. */
const char *gf_build_id(char text[GF_BUILD_ID_SIZE]);

/* Includes a file of the sources in the program, as the string gf_NAME. The Makefile declares that
 * the object file depends on that file. */
#define GF_EMBED(name, path) \
    __asm__(".pushsection .rodata, \"a\"\n" \
            ".hidden gf_" #name "\n" \
            ".globl gf_" #name "\n" \
            "gf_" #name ": .incbin \"" path "\"\n" \
            ".byte 0\n" \
            ".popsection\n"); \
    extern const char gf_##name[]
