/* The outputs of one attempt at a picture. A branch is an output on its way from the picture to its
 * file or image; a group has the branches whose next stages are the same. attempt.c opens the
 * picture and forms groups; branches.c computes their outputs. */
#pragma once

#include "pipeline/pipeline_state.h"

/* An output while it is computed. */
struct gf_branch {
    struct gf_picture_task *task;
    int number; /* the number of the output */
    bool pending;
    struct gf_rectangle window; /* the part of the source's picture that the plan reads; width 0:
                                 * the picture is read whole */
    struct gf_plan_request request;
    struct gf_plan plan; /* the plan of the present part of the chain */
    int parts;           /* how many parts of the chain have been planned */
    int end;             /* the index in the chain behind the last planned part */
    int done;            /* how many stages of `plan` are done */
    bool filtered, recoloured;
    struct gf_place place; /* the place of the plan's result in the picture of the file */
};

/* Where branches have arrived: at the source's picture, or at a picture that is held. */
struct gf_held {
    struct gf_source *source; /* the source whose picture it is; NULL: it is `image` */
    struct gf_image image;
    uint64_t bytes; /* bytes of host memory that the image takes, unless it is the caller's */
    bool on_device;
};

struct gf_attempt {
    struct gf_pipeline *pipeline;
    struct gf_source *source; /* NULL: the input is an image */
    size_t first_span;        /* the index of the first span of the output that ends next */
    double begin_s;           /* the gf_now() at which that output began */
    bool moves;               /* the source is to give coefficients */
    int width, height;        /* the size of the picture, as the source was opened */
    unsigned damaged;         /* a bit for each of the file's levels that is not read */
    int level;                /* the level by whose damage the last attempt failed; 0: none */
    bool whole;               /* windows of the outputs add up to more than the picture */
    int count;
    struct gf_branch branch[]; /* branch[count], one for each output */
};

/* Branches whose next stages are the same. */
struct gf_group {
    struct gf_branch *member[GF_PIPELINE_OUTPUTS_MAX];
    int count;
};

/* Whether a failure is damage of a level of the file, whose larger levels may be sound. */
bool gf_attempt_is_of_level(const struct gf_attempt *attempt, enum gf_status status);

/* Ends a branch with that status. After a failure its task gets the text of *why; otherwise its
 * profile is kept. If another attempt may help, the branch stays pending, and the failure is
 * returned. */
enum gf_status gf_branch_end(struct gf_attempt *attempt, struct gf_branch *branch,
                             enum gf_status status, const struct gf_error *why,
                             struct gf_error *error) GF_CHECKED;
/* Ends all pending branches of a group with the same failure. */
enum gf_status gf_group_fail(struct gf_attempt *attempt, const struct gf_group *group,
                             enum gf_status status, const struct gf_error *why,
                             struct gf_error *error) GF_CHECKED;
/* Plans the next part of the branch's chain, for an input of the format `in`. A part ends before a
 * filter that must find a box in a finished picture (trim); that filter begins the next part. */
enum gf_status gf_branch_plan(struct gf_attempt *attempt, struct gf_branch *branch,
                              struct gf_format in, struct gf_error *error) GF_CHECKED;
/* Computes the remaining stages of a branch that shares none with other branches, from *from. */
enum gf_status gf_branch_finish(struct gf_attempt *attempt, struct gf_branch *branch,
                                const struct gf_held *from, struct gf_error *error) GF_CHECKED;
/* Returns an upper bound of the bytes that the group takes from the budget that pipelines share. */
uint64_t gf_group_bytes(const struct gf_attempt *attempt, const struct gf_group *group);
/* Schedules the next stages that the group's members share, and then the remaining ones of each. A
 * group that begins at the source stays pending if memory has no room for its shared picture.
 * Returns failures of the device; other failures are stored in the members' tasks. */
enum gf_status gf_group_advance(struct gf_attempt *attempt, const struct gf_group *group,
                                const struct gf_held *from, struct gf_error *error) GF_CHECKED;

/* Moves the source's coefficients to the branch's output. */
enum gf_status gf_branch_move(struct gf_attempt *attempt, struct gf_branch *branch,
                              struct gf_error *error) GF_CHECKED;
