/* Prints help, lists, the manual and the completion. All of them derive from the tables of options
 * and filters. */
#pragma once

#include <stdio.h>

#include "base/text/json.h"
#include "cli/command/command.h"
#include "cli/help/topics.h"
#include "gpufilter/filter.h"

void gf_help_print(FILE *file);
void gf_help_filter(FILE *file, const struct gf_filter *filter);
void gf_help_option(FILE *file, const struct gf_option *option);
void gf_help_list(FILE *file, enum gf_list_form form);
void gf_help_version(FILE *file);
/* Prints the commands of the cookbook, and of the filters' help, that contain all of the words; all
 * commands if `words` is NULL (help.c). */
enum gf_status gf_help_examples(FILE *file, const char *words, struct gf_error *error) GF_CHECKED;
/* Lists the devices. With `measure` also measures the bandwidths of each device. */
enum gf_status gf_help_devices(FILE *file, bool measure, struct gf_error *error) GF_CHECKED;

/* Writes the devices as JSON (devices.c). gf_devices_keys are its keys, for the manual; {0} ends
 * them. */
enum gf_status gf_help_devices_json(FILE *file, struct gf_error *error) GF_CHECKED;
extern const struct gf_key_help gf_devices_keys[];

/* Prints gpufilter(1), the page of a topic as gpufilter-NAME(7), and the same page as text (man.c).
 */
void gf_man_print(FILE *file);
enum gf_status gf_man_topic(FILE *file, const char *name, struct gf_error *error) GF_CHECKED;
enum gf_status gf_help_topic(FILE *file, const struct gf_topic *topic,
                             struct gf_error *error) GF_CHECKED;
void gf_completion_print(FILE *file, enum gf_shell shell);

/* Writes an example chain that consists of this filter: "blur=1.5:border=edge". */
void gf_help_example(const struct gf_filter *filter, char *text, size_t size);

/* An example command line, with a sentence that says its purpose. gf_example_at() returns NULL past
 * the last one. */
struct gf_example {
    const char *command, *help;
};
const struct gf_example *gf_example_at(int index);

/* ---- elements of the manual page, in the man macros ---- */

/* Prints text without markup: dashes stay ASCII dashes, and a dot begins no request. */
void gf_man_text(FILE *file, const char *text);
void gf_man_param(FILE *file, const struct gf_param *param);

/* What a line "@ NAME" of a text of the manual stands for: keys of reports, or what put() prints.
 */
struct gf_man_part {
    const char *name;
    const struct gf_key_help *keys;
    void (*put)(FILE *file);
};
/* Prints a text of the manual. "# " begins the line of a heading, "= " that of a tag, "@ " that of
 * a part. Other lines are paragraphs, which one of these or an empty line ends; what stands between
 * two
 * '*' or two '_' is bold or italic. */
void gf_man_document(FILE *file, const char *text, const struct gf_man_part *parts);

/* Prints scripts that complete command lines. Their words come from the tables of options and
 * filters. */

void gf_completion_bash(FILE *file);
void gf_completion_zsh(FILE *file);
void gf_completion_fish(FILE *file);

enum { GF_COMPLETION_WORDS_SIZE = 2000 };

/* A parameter of a filter with the words that it accepts. gf_completion_param() returns the
 * parameters one after another, `variant` last, and then false. */
struct gf_completion_param {
    const char *name;
    char values[400];
};
