/* Decides the names of results. -o names a file, "-", a folder, or a template with fields in
 * braces. All outputs are named before anything runs, and their names must differ. Only names that
 * contain the size, or the number of a picture in a stream, are made later. */
#pragma once

#include "base/json.h"
#include "batch/names/inputs.h"
#include "gpufilter/pipeline.h"

/* The fields of gf_template_fields, and two kinds of parts that no field names. */
enum gf_template_field {
    GF_FIELD_TEXT,
    GF_FIELD_DIR,
    GF_FIELD_STEM,
    GF_FIELD_ARCHIVE,
    GF_FIELD_EXT,
    GF_FIELD_NUMBER,
    GF_FIELD_WIDTH,
    GF_FIELD_HEIGHT,
    GF_FIELD_BELOW, /* as DIR for an input that a search found, else empty; for -o FOLDER */
};

struct gf_template_part {
    enum gf_template_field field;
    int digits;       /* the least number of digits of a number */
    const char *text; /* a part of the template's own text */
    size_t length;
};

enum { GF_TEMPLATE_PARTS_MAX = 32 };

struct gf_template {
    char *text;         /* the template, with single braces; of a URL without what signs it */
    const char *given;  /* the text as it was given */
    const char *option; /* the option's name for messages */
    bool is_stdout;
    bool is_pattern; /* the template has fields; otherwise it names one file */
    bool has_number, has_size, has_archive;
    bool of_archives;           /* the template names an archive for each input archive */
    enum gf_file_format format; /* the format of --format; GF_FILE_AUTO: the extension decides */
    struct gf_template_part part[GF_TEMPLATE_PARTS_MAX];
    int parts;
};

/* The fields as a user writes them, and what they become; {0} ends them. */
extern const struct gf_key_help gf_template_fields[];

/* The end of messages about outputs of one name. */
#define GF_OUTPUTS_APART \
    "a folder, which ends in / or is there, or {dir}, {stem}, {ext} and {n} in -o tell outputs " \
    "apart"

/* Parses -o. With `several` there may be more than one input, and then a name without an extension
 * is a folder. A name with an unknown extension is refused, since it may be a file or a folder. */
enum gf_status gf_template_parse(const char *output, enum gf_file_format format, bool several,
                                 struct gf_template *template, struct gf_error *error) GF_CHECKED;
/* Makes the template of an archive. Without fields it is like a folder: the archive's members are
 * named as files in a folder would be. With fields it gives each input archive an output. */
enum gf_status gf_template_of_archive(const char *output, enum gf_file_format format,
                                      struct gf_template *template,
                                      struct gf_error *error) GF_CHECKED;
/* Makes the template of a text that is no name of a file. `option` is for messages. */
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

/* Fails if two outputs have the same name, or if an output is another input. If each input has
 * several outputs, an output must not be its own input, either. path[i * outputs + k] is output k
 * of input i; NULL if its name is not known yet, or the input cannot be read. */
enum gf_status gf_outputs_check(const struct gf_inputs *inputs, char *const *path, int outputs,
                                struct gf_error *error) GF_CHECKED;
/* Fails if the path, or a folder on the way to it, is a symbolic link below the template's folder.
 */
enum gf_status gf_refuse_links(const struct gf_template *template, const char *path,
                               struct gf_error *error) GF_CHECKED;
/* Makes the folders of the path that do not exist. */
enum gf_status gf_make_folders_of(const char *path, struct gf_error *error) GF_CHECKED;
