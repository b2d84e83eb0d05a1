/* Where results go: -o names a file, "-", a folder, or a template with fields in braces. The names
 * of all outputs are known and found to be different before anything runs, unless a stream's size
 * or number is part of one. */
#ifndef GF_BATCH_OUTPUT_TEMPLATE_H
#define GF_BATCH_OUTPUT_TEMPLATE_H

#include "base/json.h"
#include "batch/inputs.h"
#include "gpufilter/pipeline.h"

enum gf_template_field {
    GF_FIELD_TEXT,
    GF_FIELD_DIR,   /* {dir}: the input's folder: below the searched one, or as it was named */
    GF_FIELD_BELOW, /* of an input found by a search as {dir}, else nothing: what -o FOLDER keeps */
    GF_FIELD_STEM,  /* {stem}: the input's name without folder and extension */
    GF_FIELD_EXT,   /* {ext}: --format's, or the input's own */
    GF_FIELD_NUMBER, /* {n}, {n:4}: of the input in the list, or of the picture in the only input;
                        from 1 */
    GF_FIELD_WIDTH,  /* {w}, {h}: of the result */
    GF_FIELD_HEIGHT,
};

struct gf_template_part {
    enum gf_template_field field;
    int digits;       /* of a number, at least */
    const char *text; /* within the template's own text */
    size_t length;
};

enum { GF_TEMPLATE_PARTS_MAX = 32 };

struct gf_template {
    char *text; /* as given, braces unescaped */
    bool is_stdout;
    bool is_pattern; /* else one file */
    bool has_number, has_size;
    enum gf_file_format format; /* asked for; GF_FILE_AUTO: by extension */
    struct gf_template_part part[GF_TEMPLATE_PARTS_MAX];
    int parts;
};

/* The fields as a user writes them, for the manual; NULL past the last one. */
const struct gf_key_help *gf_template_field_at(int index);

/* several: there may be more than one input, so that a bare name without an extension is a folder
 * to be made. */
enum gf_status gf_template_parse(const char *output, enum gf_file_format format, bool several,
                                 struct gf_template *template, struct gf_error *error) GF_CHECKED;
void gf_template_free(struct gf_template *template);
/* The folder that holds every output, or "" where the template begins with a field; malloc. */
char *gf_template_folder(const struct gf_template *template);

/* What the fields stand for. */
struct gf_template_values {
    const struct gf_input_name *input;
    size_t number;
    int width, height;
    enum gf_file_format content; /* of the input, for {ext} where its name says none */
};
/* The path, malloc. */
enum gf_status gf_template_expand(const struct gf_template *template,
                                  const struct gf_template_values *values, char **path,
                                  struct gf_error *error) GF_CHECKED;

/* Refuses two inputs that write the same output, and an output that is another input. path[i]
 * belongs to input i; NULL is one that is not known yet, or of a file that cannot be read. */
enum gf_status gf_outputs_check(const struct gf_inputs *inputs, char *const *path,
                                struct gf_error *error) GF_CHECKED;
/* The folders of the path that are not there yet. */
enum gf_status gf_make_folders_of(const char *path, struct gf_error *error) GF_CHECKED;

#endif
