/* A folder of the test's own, and files in it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[200];

static inline int make_folder(void **state)
{
    const char *const base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/gpufilter-test-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    char command[500];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

/* The path of a file in the folder, valid for eight calls. */
static inline const char *in_folder(const char *name)
{
    static char path[8][512];
    static int next;
    next = (next + 1) % 8;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

/* ---- whole files ---- */

struct bytes {
    unsigned char *data;
    size_t size;
};

static inline void save(const char *path, const void *data, size_t size)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Returns the path. */
static inline const char *save_text(const char *path, const char *text)
{
    save(path, text, strlen(text));
    return path;
}

static inline struct bytes load(const char *path)
{
    struct bytes bytes = {0};
    size_t room = 1 << 16; /* doubled, since a sanitizer copies what grows */
    FILE *const file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: cannot open it", path);
    for (size_t n = 1; n; room *= 2) {
        bytes.data = realloc(bytes.data, room);
        assert_non_null(bytes.data);
        n = fread(bytes.data + bytes.size, 1, room - bytes.size, file);
        bytes.size += n;
    }
    fclose(file);
    return bytes;
}

static inline bool same_file(const char *a, const char *b)
{
    const struct bytes one = load(a), other = load(b);
    const bool same = one.size == other.size && !memcmp(one.data, other.data, one.size);
    free(one.data);
    free(other.data);
    return same;
}

/* ---- pipes ---- */

/* A named pipe, into which a thread writes those bytes in small pieces. */
struct feed {
    char path[400];
    struct bytes bytes;
    int piece_ms; /* after each piece */
    int pause_ms; /* before the end */
    pthread_t thread;
};

static inline void *feed_main(void *argument)
{
    enum { PIECE = 777 };
    const struct feed *const feed = argument;
    const int fd = open(feed->path, O_WRONLY);
    for (size_t at = 0; at < feed->bytes.size;) {
        const size_t left = feed->bytes.size - at;
        const ssize_t n = write(fd, feed->bytes.data + at, left < PIECE ? left : PIECE);
        if (n < 0)
            break;
        at += (size_t)n;
        usleep((useconds_t)feed->piece_ms * 1000);
    }
    usleep((useconds_t)feed->pause_ms * 1000);
    close(fd);
    return NULL;
}

static inline void feed_begin(struct feed *feed, const char *path, struct bytes bytes)
{
    snprintf(feed->path, sizeof feed->path, "%s", path);
    feed->bytes = bytes;
    assert_int_equal(mkfifo(feed->path, 0600), 0);
    assert_int_equal(pthread_create(&feed->thread, NULL, feed_main, feed), 0);
}

static inline void feed_end(struct feed *feed)
{
    pthread_join(feed->thread, NULL);
    assert_int_equal(unlink(feed->path), 0);
}
