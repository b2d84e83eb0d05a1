/* What functions print into a FILE, as text. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct {
    FILE *file;
    char *text;
    size_t size;
} printed;

/* The file, one at a time. */
static inline FILE *print_begin(void)
{
    printed.file = open_memstream(&printed.text, &printed.size);
    assert_non_null(printed.file);
    return printed.file;
}

/* What it holds; free() it. */
static inline char *print_end(void)
{
    assert_int_equal(fclose(printed.file), 0);
    return printed.text;
}

static inline int count_of(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}
