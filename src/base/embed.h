/* Includes a file of the sources in the program, as the string gf_NAME. The Makefile declares that
 * the object file depends on that file. */
#pragma once

#define GF_EMBED(name, path) \
    __asm__(".pushsection .rodata, \"a\"\n" \
            ".hidden gf_" #name "\n" \
            ".globl gf_" #name "\n" \
            "gf_" #name ": .incbin \"" path "\"\n" \
            ".byte 0\n" \
            ".popsection\n"); \
    extern const char gf_##name[]
