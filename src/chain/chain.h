/* A chain of filters that was parsed from text, such as "blur=2,equalize", and the choice of the
 * CUDA kernels that its filters run. */
#pragma once

#include "base/host_device.h"
#include "chain/foreign.h"
#include "chain/region.h"
#include "gpufilter/status.h"
#include "stage/filter.h"
#include "stage/stage.h"

GF_C_BEGIN

struct gf_chain_item {
    const struct gf_filter *filter;
    void *params;   /* the variant of the kernels that variant=name chooses; NULL: the default */
    bool is_loaded; /* the filter has loaded files, which unload() must release */
    const struct gf_variant *variant; /* chosen by variant=name; NULL: the default */
    struct gf_region *region;         /* the region to which the filter is limited; or NULL */
};
struct gf_chain {
    struct gf_chain_item *item;
    int count;
    bool no_fuse; /* each point filter is a stage of its own and rounds its result */
};
/* Finds the filter of that name or alias. The error for an unknown name ends with the similar name
 * that was probably meant, or else with the text `advice`. */
enum gf_status gf_filter_named(const char *name, const char *advice,
                               const struct gf_filter **filter, struct gf_error *error) GF_CHECKED;
/* Does what gf_foreign_answer() does. What the answer proposes is a chain that can be parsed: where
 * that of the typed numbers is none, it has those of the table. */
bool gf_chain_answer(enum gf_foreign_kind kind, const char *item, struct gf_foreign_answer *answer);
/* Fails with the answer behind a text: "TEXT (WHOSE): NOTE; did you mean 'MEANING'?". A note that
 * ends in "is", "by" or the like leads to the meaning: "TEXT: NOTE 'MEANING'". `join` stands before
 * the note. */
enum gf_status gf_chain_fail_answer(const char *text, const char *join,
                                    const struct gf_foreign_answer *answer, struct gf_error *error);
/* Tells, in a line each, which values of the chain probably mean something else than what the
 * filters take them for, such as a ratio as a size. *told has a bit for each kind of line, which is
 * told once. */
void gf_chain_hint(const char *chain, uint64_t *told, void (*tell)(void *context, const char *line),
                   void *context);
/* Fails if the text is no chain. It reads none of the files that the chain names. */
enum gf_status gf_chain_check(const char *text, struct gf_error *error) GF_CHECKED;
enum gf_status gf_chain_parse(const char *text, struct gf_chain *chain,
                              struct gf_error *error) GF_CHECKED;

/* Returns the index of the first item, from `first` on, whose filter has a find() that looks for a
 * box in the finished result of the items before it, as trim and deskew have; `count` if there is
 * none. */
int gf_chain_next_box(const struct gf_chain *chain, int first);
/* Whether the filters only move and mix pixels, so that the luminance of the brightest pixel stays
 * about the same. */
bool gf_chain_keeps_light(const struct gf_chain *chain);
/* Whether files that are written from the result have 8 bits a sample unless the user says
 * otherwise (for_screens of a filter). */
bool gf_chain_is_for_screens(const struct gf_chain *chain);
/* Whether a filter of the chain adds up the histograms of several frames of a film
 * (GF_PARAM_SMOOTH). */
bool gf_chain_smooths(const struct gf_chain *chain);
/* Whether a filter of the chain, or a part of one, converts colours (GF_COLOUR). */
bool gf_chain_converts(const struct gf_chain *chain);
/* Finds the files that the chain names, in the order of the chain. path[0] .. path[most - 1] are
 * set to the names of the first of them, which belong to the chain. Returns the number of all of
 * them. */
int gf_chain_files(const struct gf_chain *chain, const char **path, int most);
/* Returns items begin .. end - 1 as a chain. The items still belong to the whole chain, so that the
 * part is not freed. */
struct gf_chain gf_chain_part(const struct gf_chain *chain, int begin, int end);
void gf_chain_free(struct gf_chain *chain);

/* Reads a chain from a file, in which it may have several lines and comments, and sets *chain to it
 * as one line of text; the caller frees it. The path "-" means standard input. */
enum gf_status gf_chain_file_read(const char *path, char **chain,
                                  struct gf_error *error) GF_CHECKED;

/* The functions from here on are about the CUDA kernels of a filter, and those that a stage
 * runs. */

/* Returns the variant that variant=naive chooses: the second of the filter's list, which is the
 * simplest; NULL if the filter has only its default. */
const struct gf_variant *gf_filter_naive(const struct gf_filter *filter);
/* Returns variant `index` of the filter's kernels. Index 0 is the default; NULL after the last
 * one. */
const struct gf_variant *gf_filter_variant_at(const struct gf_filter *filter, int index);
/* Returns the filter whose variants the stage can run: its own filter or, if it is a list of point
 * filters with a single one, that filter. */
const struct gf_filter *gf_stage_variants(const struct gf_stage *stage);
/* Returns the launcher of the stage's variant, or of the default if the variant has none. The
 * stage's filter must have a kernel. */
gf_launcher *gf_stage_launcher(const struct gf_stage *stage);
/* Fails with GF_ERROR_UNAVAILABLE if the filter computes pixels itself and has no CUDA kernel. */
enum gf_status gf_filter_check_kernels(const struct gf_filter *filter,
                                       struct gf_error *error) GF_CHECKED;
/* Fails with GF_ERROR_UNAVAILABLE if a filter of the chain has no CUDA kernel. */
enum gf_status gf_chain_check_kernels(const struct gf_chain *chain,
                                      struct gf_error *error) GF_CHECKED;
/* Whether the stage needs only the lowest and the highest level of its histogram. */
bool gf_stage_needs_extremes(const struct gf_stage *stage);
/* gf_stage_counter() returns the counter of the stage's variant, or of the default if the variant
 * has none. gf_stage_marks_extremes() tells whether the counter marks only the lowest and the
 * highest level. */
gf_counter *gf_stage_counter(const struct gf_stage *stage);
bool gf_stage_marks_extremes(const struct gf_stage *stage);

GF_C_END
