/* Tells from a name alone whether it is a URL, which part of it is a secret signature, and whether
 * it names an archive; and what the name of no file was meant as. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "batch/names/names.h"
#include "codec/io/input.h"

size_t gf_url_scheme(const char *name)
{
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || (name[length] && strchr("+-.", name[length])))
        length++;
    return isalpha((unsigned char)*name) && !strncmp(name + length, "://", 3) ? length + 3 : 0;
}

bool gf_url_is_web(const char *name)
{
    return !strncasecmp(name, "http://", 7) || !strncasecmp(name, "https://", 8);
}

size_t gf_url_path(const char *name)
{
    return strcspn(name, gf_url_is_web(name) ? "?#" : "");
}

/* Returns the length of "USER:PASSWORD@" in the text behind a URL's scheme; 0 if it has none. */
static size_t user_length(const char *behind)
{
    size_t length = strcspn(behind, "/?#");
    while (length && behind[length - 1] != '@')
        length--;
    return length;
}

const char *gf_url_user(const char *name, size_t *length)
{
    const size_t scheme = gf_url_scheme(name);
    *length = scheme ? user_length(name + scheme) : 0;
    return name + scheme;
}

void gf_url_hide(char *name)
{
    char *const behind = name + gf_url_scheme(name);
    const char *const host = behind == name ? name : behind + user_length(behind);
    name[gf_url_path(name)] = '\0';
    memmove(behind, host, strlen(host) + 1);
}

void gf_url_hide_all(char *text)
{
    for (char *at = text; (at = strstr(at, "://"));) {
        while (at > text && (isalnum((unsigned char)at[-1]) || strchr("+-.", at[-1])))
            at--;
        char *const rest = at + strcspn(at, " \t\n\"'`<>()|");
        const char end = *rest;
        *rest = '\0';
        gf_url_hide(at);
        at += strlen(at);
        *rest = end;
        memmove(at, rest, strlen(rest) + 1);
    }
}

char *gf_url_sign(const char *name, const char *given)
{
    const size_t scheme = gf_url_scheme(given);
    const int user = scheme ? (int)user_length(given + scheme) : 0;
    char *url;
    return asprintf(&url, "%.*s%.*s%s%s", (int)scheme, given, user, given + scheme,
                    name + gf_url_scheme(name), given + gf_url_path(given)) < 0
               ? NULL
               : url;
}

static const char prefix[] = "tar:", zip_prefix[] = "zip:";

/* The extensions of archives, and the packers of such files by libarchive's names. */
static const struct {
    const char *extension, *packer;
} kinds[] = {{".tar", NULL},        {".tar.gz", "gzip"},      {".tgz", "gzip"},
             {".tar.bz2", "bzip2"}, {".tar.xz", "xz"},        {".tar.zst", "zstd"},
             {".tzst", "zstd"},     {".zip", GF_ARCHIVE_ZIP}, {".cbz", GF_ARCHIVE_ZIP}};

static int kind_of(const char *name)
{
    const size_t length = gf_url_path(name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t size = strlen(kinds[i].extension);
        if (length > size && !strncasecmp(name + length - size, kinds[i].extension, size))
            return (int)i;
    }
    return -1;
}

static bool has_prefix(const char *argument)
{
    return !strncmp(argument, prefix, sizeof prefix - 1) ||
           !strncmp(argument, zip_prefix, sizeof zip_prefix - 1);
}

bool gf_archive_named(const char *argument)
{
    return has_prefix(argument) || kind_of(argument) >= 0;
}

const char *gf_archive_path(const char *argument)
{
    return has_prefix(argument) ? argument + sizeof prefix - 1 : argument;
}

size_t gf_archive_stem(const char *name)
{
    const int kind = kind_of(name);
    const char *const dot = strrchr(name, '.');
    if (kind >= 0)
        return gf_url_path(name) - strlen(kinds[kind].extension);
    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

const char *gf_archive_packer(const char *argument)
{
    const int kind = kind_of(gf_archive_path(argument));
    return kind >= 0                                              ? kinds[kind].packer
           : strncmp(argument, zip_prefix, sizeof zip_prefix - 1) ? NULL
                                                                  : GF_ARCHIVE_ZIP;
}

/* Whether the first bytes of a path are the name of a file. */
static bool is_file(const char *path, size_t length)
{
    struct stat file;
    char *const name = strndup(path, length);
    const bool is = name && !stat(name, &file) && S_ISREG(file.st_mode);
    free(name);
    return is;
}

enum gf_status gf_input_check_meant(const char *path, struct gf_error *error)
{
    struct gf_pages pages;
    struct stat file;
    const char *const bracket = strrchr(path, '['), *slash = strchr(path, '/');
    if (gf_input_stat(path, &file))
        return GF_OK;
    if (bracket && path[strlen(path) - 1] == ']' && !gf_input_split_pages(path, &pages) &&
        is_file(path, (size_t)(bracket - path)))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: pictures of a file are [NUMBER], counted from 0, [FIRST..LAST], [all] "
                       "or [KIND]; several -i choose several: -i '%.*s[0]' -i '%.*s[2]'",
                       path, (int)(bracket - path), path, (int)(bracket - path), path);
    while (slash && !is_file(path, (size_t)(slash - path)))
        slash = strchr(slash + 1, '/');
    char *const archive = slash ? strndup(path, (size_t)(slash - path)) : NULL;
    const bool inside = archive && gf_archive_named(archive);
    free(archive);
    return inside ? gf_fail(error, GF_ERROR_USAGE,
                            "%s: leads into an archive, and a run takes all of its pictures: -i "
                            "'%.*s' -o 'FOLDER/' makes files of them",
                            path, (int)(slash - path), path)
                  : GF_OK;
}
