/* Names of inputs and outputs: the pictures that the arguments of -i name, in their order; which
 * names are archives or URLs; -o, from which the names of the results are made. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/json.h"
#include "gpufilter/pipeline.h"
#include "gpufilter/status.h"

struct gf_input_name {
    char *path;
    char *url; /* the URL with its signature, for commands; NULL: `path` itself */
    /* The offset in `path` of the part below the searched folder; 0: -i names the file itself. */
    size_t below;
    size_t index;        /* position in the list of all parts' inputs, from 0 */
    const char *archive; /* the name of the archive that the input is a member of, or NULL */
    const void *data;    /* the bytes of a member of an archive; NULL: the input is a file */
    size_t size;
    /* What the line of a list states after the name: the file's bytes, 0 if they are not stated,
     * and another word, which changes if the file does; NULL: there is none. The word lies in the
     * memory of the path. */
    uint64_t bytes;
    const char *etag;
};

struct gf_inputs {
    struct gf_input_name *item;
    size_t count;
    size_t elsewhere; /* the number of inputs of other parts, which are not in the list */
    size_t left_out; /* the number of files in folders that were left out, since their names are not
                      * names of pictures */
    /* For the inputs of one part, a hash of the names and bytes of all parts' inputs, in their
     * order: parts of one run have the same hash. 0: there are no parts. */
    uint64_t list;
    /* The first picture of a folder whose archives were left out because of its pictures; NULL:
     * there is no such folder. */
    char *mixed;
    bool is_found; /* a folder or a pattern named inputs, and not only a list */
};

struct gf_inputs_request {
    /* Each argument is a file, "-", a folder, a pattern with *, ? or [, or "@LIST". */
    const char *const *argument;
    int count;
    bool by_number;     /* numbers in names count for the order: 9 comes before 10 */
    bool recursive;     /* folders in folders are searched, too */
    bool nul_separated; /* names in lists end with NUL instead of a line break */
    int shard, shards;  /* the part of the inputs that is wanted, 1..shards; shards 0: all inputs */
    /* The folders of outputs. The search does not enter them, since they hold an earlier run's
     * results. There is one for each of outputs_count outputs; a folder may be "". */
    char *const *outputs;
    int outputs_count;
    struct gf_inputs *left_out; /* NULL, or the list that gets the names of the files that are no
                                 * pictures */
};

/* Returns the number of inputs of all parts. */
static inline size_t gf_inputs_total(const struct gf_inputs *inputs)
{
    return inputs->count + inputs->elsewhere;
}

/* Whether the input is a pipe or a device, which can be read only once. */
bool gf_input_named_is_stream(const char *path);
/* Refuses the name of no file, by GF_ERROR_USAGE, if it begins with the name of a file and goes on
 * as if that had such pages ("a.tif[0,2]"), or were an archive that is a folder ("a.zip/b.jpg"). */
enum gf_status gf_input_check_meant(const char *path, struct gf_error *error) GF_CHECKED;

/* Whether the argument may stand for more than one picture. */
bool gf_inputs_is_group(const char *argument);

/* Expands the arguments. A folder stands for its files with a picture's extension, without hidden
 * ones, or for its archives if it holds no pictures; links to folders are not followed, and a link
 * that leads nowhere counts by its own name. A name in a list is a file or a folder, never a
 * pattern; a line may end with CR LF, and a tab and the file's bytes may follow the name, by which
 * the parts are divided. The lines of other parts are dropped at once, and their files are not
 * looked at. Missing files and unreadable folders in folders become inputs, which fail when they
 * are opened. An argument that names no picture at all is an error. */
enum gf_status gf_inputs_expand(const struct gf_inputs_request *request, struct gf_inputs *inputs,
                                struct gf_error *error) GF_CHECKED;
void gf_inputs_free(struct gf_inputs *inputs);

/* A file of each of two folders; NULL: the other one has no partner. */
struct gf_input_pair {
    const char *path[2];
};
/* Sorts the files of two folders by their names, and pairs them by these and, where that finds no
 * partner, by the names without the extension. The paths are the lists'; the caller frees *pairs by
 * free(). */
enum gf_status gf_inputs_pair(struct gf_inputs list[2], struct gf_input_pair **pairs, size_t *count,
                              struct gf_error *error) GF_CHECKED;

/* ---- which arguments of -i and -o name archives ---- */

/* Whether an argument of -i or -o names an archive: by its extension, or by "tar:" or "zip:" before
 * the name of a file or before "-" for standard input and output. */
bool gf_archive_named(const char *argument);
/* Returns the argument without "tar:" or "zip:". */
const char *gf_archive_path(const char *argument);
/* Returns the length of a name, which has no folder, without its extension: an archive's, as in
 * "train.tar.gz", or any other. */
size_t gf_archive_stem(const char *name);
/* Returns the name of the packer for an archive of that name, such as "gzip", or GF_ARCHIVE_ZIP;
 * NULL if the archive is not packed. */
#define GF_ARCHIVE_ZIP "zip"
const char *gf_archive_packer(const char *argument);

/* URLs as names, for the commands that transfer files. The signature of a URL is secret and may
 * change from run to run: the user and the password before the host and, of http and https, the
 * parameters from ? or # on. Messages, logs and records have the name without the signature. */

/* Returns the length of the scheme with which the name begins, as 5 for "s3://bucket/a.tar"; 0: the
 * name is no URL. */
size_t gf_url_scheme(const char *name);
/* Whether the name is a URL of http or https. */
bool gf_url_is_web(const char *name);
/* Returns the length of the name up to the parameters of a URL. */
size_t gf_url_path(const char *name);
/* Returns the place of "USER:PASSWORD@" in a URL, and its length; 0: there is none. */
const char *gf_url_user(const char *name, size_t *length);
/* Removes the signature from a URL, in place. */
void gf_url_hide(char *name);
/* Removes the signatures from all URLs in a text, in place. */
void gf_url_hide_all(char *text);
/* Returns the name, from malloc(), with the signature of the URL `given`; NULL when out of
 * memory. */
char *gf_url_sign(const char *name, const char *given);

/* ---- the names of results. -o names a file, "-", a folder, or a template with fields in braces.
 * All outputs are named before anything runs, and their names must differ. Only names that contain
 * the size, or the number of a picture in a stream, are made later ---- */

/* The fields of gf_template_fields, and two kinds of parts that have no name there: GF_FIELD_TEXT
 * and GF_FIELD_BELOW. */
enum gf_template_field {
    GF_FIELD_TEXT,
    GF_FIELD_DIR,
    GF_FIELD_STEM,
    GF_FIELD_ARCHIVE,
    GF_FIELD_EXT,
    GF_FIELD_NUMBER,
    GF_FIELD_WIDTH,
    GF_FIELD_HEIGHT,
    GF_FIELD_BELOW, /* for -o FOLDER: as DIR for inputs found by a search, else empty */
};

struct gf_template_part {
    enum gf_template_field field;
    int digits;       /* the least number of digits of a number */
    const char *text; /* a part of the template's own text */
    size_t length;
};

enum { GF_TEMPLATE_PARTS_MAX = 32 };

struct gf_template {
    char *text;         /* the template, with single braces; of a URL without its signature */
    const char *given;  /* the text as the user gave it */
    const char *option; /* the option's name for messages */
    bool is_stdout;
    bool is_pattern; /* the template has fields; otherwise it names one file */
    bool has_number, has_size, has_archive;
    bool is_archive;            /* the outputs are archives of pictures */
    bool of_archives;           /* the template gives each input archive an output archive */
    enum gf_file_format format; /* the format of --format; GF_FILE_AUTO: the extension decides */
    const char *extension;      /* of pyramids; "": they are folders; NULL: the outputs are none */
    struct gf_template_part part[GF_TEMPLATE_PARTS_MAX];
    int parts;
};

/* Whether the outputs are folders of tiles. */
bool gf_template_is_of_folders(const struct gf_template *template);

/* The fields as a user writes them, and what they become; {0} ends them. */
extern const struct gf_key_help gf_template_fields[];

/* The end of messages about outputs of one name. */
#define GF_OUTPUTS_APART \
    "a folder, which ends in / or is there, or {dir}, {stem}, {ext} and {n} in -o tell outputs " \
    "apart"

/* Parses -o for outputs with these options. With `several` there may be more than one input, and
 * then a name without an extension is a folder. A name with an unknown extension is refused, since
 * it may be a file or a folder. */
enum gf_status gf_template_parse(const char *output, const struct gf_options *options, bool several,
                                 struct gf_template *template, struct gf_error *error) GF_CHECKED;
/* Makes the template of an archive. Without fields it is like a folder: the archive's members are
 * named as files in a folder would be. With fields it gives each input archive an output. */
enum gf_status gf_template_of_archive(const char *output, enum gf_file_format format,
                                      struct gf_template *template,
                                      struct gf_error *error) GF_CHECKED;
/* Makes the template of a text, such as a label, that is not the name of a file. `option` is for
 * messages. */
enum gf_status gf_template_of_text(const char *text, const char *option,
                                   struct gf_template *template, struct gf_error *error) GF_CHECKED;
void gf_template_free(struct gf_template *template);
/* Returns the folder that holds every output, or "" if the template begins with a field. The text
 * is from malloc(). */
char *gf_template_folder(const struct gf_template *template);
/* Returns GF_ERROR_USAGE if no output of the template can be made here, whatever the inputs are:
 * its folder leads through a file, a name is too long, or it is a URL. */
enum gf_status gf_template_check_place(const struct gf_template *template,
                                       struct gf_error *error) GF_CHECKED;

/* The values that replace the fields. */
struct gf_template_values {
    const struct gf_input_name *input;
    size_t number;
    int width, height;
    enum gf_file_format content; /* the input's format, for {ext} if the input's name has no known
                                  * extension */
};
/* Expands a template; *path is from malloc(). */
enum gf_status gf_template_expand(const struct gf_template *template,
                                  const struct gf_template_values *values, char **path,
                                  struct gf_error *error) GF_CHECKED;

/* Whether an output of that name would replace the file, which need not exist. */
bool gf_output_is_place(const char *file, const char *output);
/* Whether one of the outputs is the other, or has its folder of tiles there or above it. */
bool gf_outputs_overlap(const char *output, const char *other);
/* Whether an output of that name would replace the input, also as a file in its folder of tiles. */
bool gf_output_replaces(const char *output, const char *input);
/* Fails if two outputs have the same name or folder of tiles, or if an output would replace another
 * input or, with `own`, its own one. path[i * outputs + k] is output k of input i; NULL if its name
 * is not known yet, or the input cannot be read. */
enum gf_status gf_outputs_check(const struct gf_inputs *inputs, char *const *path, int outputs,
                                bool own, struct gf_error *error) GF_CHECKED;
/* Fails if the path, or a folder on the way to it, is a symbolic link below the template's folder.
 */
enum gf_status gf_refuse_links(const struct gf_template *template, const char *path,
                               struct gf_error *error) GF_CHECKED;
/* Makes all missing folders of the path. */
enum gf_status gf_make_folders_of(const char *path, struct gf_error *error) GF_CHECKED;

/* The output names that are taken so far, for runs in which not all names are known at the
 * start. */

struct gf_claims {
    void *tree; /* the names, in a tree of tsearch() */
};

/* Takes the output name `output` for the input with number `index`, which may already have it.
 * `repeats`: another input with the same name `input` may have it, too. *why becomes NULL or, if
 * another input has the name, a line from malloc() that says so. Returns false when out of
 * memory. */
bool gf_claim(struct gf_claims *claims, const char *output, const char *input, size_t index,
              bool repeats, char **why);
void gf_claims_free(struct gf_claims *claims);
