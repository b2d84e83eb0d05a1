/* A tar archive from bytes: the checksums are right, so that what lies behind them is reached. */
#pragma once

#include "fuzz.h"

enum { TAR_BLOCK = 512, TAR_MOST = 256 << 10 };

struct tar {
    size_t size;
    uint8_t data[TAR_MOST];
};

static const char tar_picture[] = "P5 3 2 255\nabcdef";

/* Bytes up to a whole block. */
static void tar_append(struct tar *tar, const void *data, size_t size)
{
    const size_t whole = (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    if (whole > TAR_MOST - tar->size)
        return;
    memset(tar->data + tar->size, 0, whole);
    memcpy(tar->data + tar->size, data, size);
    tar->size += whole;
}

/* A field of the header, of at most `most` bytes. */
static void tar_put(char *header, size_t at, const char *text, size_t most)
{
    memcpy(header + at, text, strnlen(text, most));
}

/* A header, some of whose bytes the input changes before the checksum is made. */
static void tar_add_header(struct tar *tar, struct fuzz_bytes *bytes, char type, const char *name,
                           const char *target, size_t size)
{
    char header[TAR_BLOCK] = {0}, number[24];
    unsigned sum = 0;
    tar_put(header, 0, name, 100);
    tar_put(header, 100, "0000644\0000000000\0000000000", 8);
    snprintf(number, sizeof number, "%011zo", size);
    tar_put(header, 124, number, 12);
    tar_put(header, 136, "00000000001", 12);
    header[156] = type;
    tar_put(header, 157, target, 100);
    memcpy(header + 257, "ustar\00000", 8);
    for (unsigned changes = fuzz_byte(bytes) % 4; changes--;) {
        const unsigned high = fuzz_byte(bytes), at = high << 8 | fuzz_byte(bytes);
        header[at % TAR_BLOCK] = (char)fuzz_byte(bytes);
    }
    memset(header + 148, ' ', 8);
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += (unsigned char)header[i];
    snprintf(number, sizeof number, "%06o", sum);
    memcpy(header + 148, number, 7);
    tar_append(tar, header, sizeof header);
}

/* A record of a pax header: its length, which counts itself, a key and a value. */
static size_t tar_pax_record(char *record, size_t most, const char *key, const char *value)
{
    const size_t rest = strlen(key) + strlen(value) + 3;
    size_t length = rest + 1;
    while (rest + (size_t)snprintf(NULL, 0, "%zu", length) > length)
        length++;
    return (size_t)snprintf(record, most, "%zu %s=%s\n", length, key, value);
}

/* A member, from bytes that say its type, its name, its target and its contents. Long names get a
 * pax header or one of GNU's. */
static void tar_add(struct tar *tar, struct fuzz_bytes *bytes)
{
    static const char types[] = "00000012x5gLKSD3";
    static const char *const keys[] = {"path",
                                       "linkpath",
                                       "size",
                                       "GNU.sparse.map",
                                       "GNU.sparse.major",
                                       "GNU.sparse.name",
                                       "GNU.sparse.realsize",
                                       "hdrcharset",
                                       "SCHILY.xattr.a",
                                       "mtime",
                                       "LIBARCHIVE.xattr.b"};
    const unsigned how = fuzz_byte(bytes);
    const char type = types[how % 16];
    char *const name = fuzz_string(bytes), *const target = fuzz_string(bytes);
    char record[1024];
    const size_t most = fuzz_byte(bytes), size = most < bytes->size ? most : bytes->size;
    if (type == 'x' || type == 'g') {
        const size_t length = tar_pax_record(record, sizeof record,
                                             keys[how / 16 % (sizeof keys / sizeof *keys)], name);
        tar_add_header(tar, bytes, type, "pax", "",
                       length < sizeof record ? length : sizeof record - 1);
        tar_append(tar, record, length < sizeof record ? length : sizeof record - 1);
    } else if (type == 'L' || type == 'K') {
        tar_add_header(tar, bytes, type, "././@LongLink", "", strlen(name) + 1);
        tar_append(tar, name, strlen(name) + 1);
    } else if (type == '0' && how & 128) { /* as the input says */
        const uint8_t *const data = bytes->data;
        bytes->data += size;
        bytes->size -= size;
        tar_add_header(tar, bytes, type, name, target, size);
        tar_append(tar, data, size);
    } else {
        tar_add_header(tar, bytes, type, name, target, type == '0' ? sizeof tar_picture - 1 : 0);
        if (type == '0')
            tar_append(tar, tar_picture, sizeof tar_picture - 1);
    }
    free(name);
    free(target);
}
