/* The outputs of one attempt at a picture. A branch is an output on its way from the picture to its
 * file or image; a group has the branches whose next stages are the same. attempt.c opens the
 * picture and forms groups; branches.c computes their outputs. */
#pragma once

#include "pipeline/pipeline_state.h"

/* One output while it is computed. */
struct gf_branch {
    struct gf_picture_task *task;
    int number; /* the number of the output */
    bool pending;
    struct gf_plan_request request;
    struct gf_plan plan; /* the plan of the present part of the chain */
    int parts;           /* the number of parts that have been planned */
    int end;             /* where the last of them ends in the chain */
    int done;            /* the number of the plan's stages that are done */
    bool filtered, recoloured;
    struct gf_place place; /* of the result of the plan, in the file's picture */
};

/* What branches have reached: the source's picture, or one that is held. */
struct gf_held {
    struct gf_source *source; /* NULL: the image */
    struct gf_image image;
    uint64_t bytes; /* the host memory that the image takes, unless it is the caller's */
    bool on_device;
};

struct gf_attempt {
    struct gf_pipeline *pipeline;
    struct gf_source *source; /* NULL: the input is an image */
    size_t first_span;        /* the first span of the output that ends next */
    double begin_s;           /* likewise */
    int count;
    struct gf_branch branch[]; /* [count] elements; a pipeline with one output has one */
};

/* Branches whose next stages are the same. */
struct gf_group {
    struct gf_branch *member[GF_PIPELINE_OUTPUTS_MAX];
    int count;
};

/* Ends a branch with that status. After a failure the branch owns *why; otherwise its profile is
 * kept. If another attempt may help, the branch stays pending and the failure is returned. */
enum gf_status gf_branch_end(struct gf_attempt *attempt, struct gf_branch *branch,
                             enum gf_status status, const struct gf_error *why,
                             struct gf_error *error) GF_CHECKED;
/* Plans the next part of the branch's chain. It ends before a filter that needs a finished picture,
 * in which it finds a box; that filter begins the part after it. */
enum gf_status gf_branch_plan(struct gf_attempt *attempt, struct gf_branch *branch,
                              struct gf_format in, struct gf_error *error) GF_CHECKED;
/* Computes the rest of a branch that shares no stages with others. */
enum gf_status gf_branch_finish(struct gf_attempt *attempt, struct gf_branch *branch,
                                const struct gf_held *from, struct gf_error *error) GF_CHECKED;
/* Returns an upper bound of the memory that the group needs from the budget that pipelines share.
 */
uint64_t gf_group_bytes(const struct gf_attempt *attempt, const struct gf_group *group);
/* Schedules the next stages that the group's members share, and then the rest of each. A group that
 * begins at the source stays pending if there is no room for its shared picture. Returns failures
 * of the device; other failures are stored in the members. */
enum gf_status gf_group_advance(struct gf_attempt *attempt, const struct gf_group *group,
                                const struct gf_held *from, struct gf_error *error) GF_CHECKED;
