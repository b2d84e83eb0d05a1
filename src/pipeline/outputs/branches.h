/* Computes several outputs of one picture. A branch is an output from the picture to its file; a
 * group has the branches whose next stages are the same. outputs.c opens the picture and
 * forms groups; branches.c computes the outputs of a group. */
#pragma once

#include "pipeline/pipeline_state.h"

/* One output while it is computed. */
struct gf_branch {
    struct gf_picture_task *task;
    int number; /* the number of the output */
    bool pending;
    struct gf_plan_request request;
    struct gf_plan plan; /* the plan of the present part of the chain */
    bool planned;
    int end;  /* where that part ends in the chain */
    int done; /* the number of the plan's stages that are done */
    bool filtered, recoloured;
    struct gf_place place; /* of the result of the plan, in the file's picture */
};

/* A picture that several outputs share. */
struct gf_held {
    struct gf_image image;
    bool on_device;
};

struct gf_several {
    struct gf_pipeline *pipeline;
    struct gf_branch branch[GF_PIPELINE_OUTPUTS_MAX];
    struct gf_source *source;
    size_t first_span; /* the first span of the output that ends next */
    double begin_s;    /* likewise */
};

/* Branches whose next stages are the same. */
struct gf_group {
    struct gf_branch *member[GF_PIPELINE_OUTPUTS_MAX];
    int count;
};

/* Ends a branch. After a failure the branch owns *error; otherwise the branch's profile is kept. */
void gf_branch_end(struct gf_several *several, struct gf_branch *branch, enum gf_status status,
                   const struct gf_error *error);
/* Plans one part of the branch's chain. The part begins with filter 0, or with a filter that finds
 * a box. */
enum gf_status gf_branch_plan(struct gf_several *several, struct gf_branch *branch, int begin,
                              struct gf_format in, struct gf_error *error) GF_CHECKED;
/* Ends all branches of a group with a failure. If another attempt may help, the branches stay
 * pending and the failure is returned. */
enum gf_status gf_group_fail(struct gf_several *several, const struct gf_group *group,
                             enum gf_status status, const struct gf_error *why,
                             struct gf_error *error) GF_CHECKED;
/* Schedules the next stages that the group shares, and then the rest of its members. `from` is the
 * picture that the members have reached. If `from` is NULL, the members begin at the source; such a
 * group stays pending if there is no room for its shared picture. Returns failures of the device;
 * other failures are stored in the members. */
enum gf_status gf_group_advance(struct gf_several *several, const struct gf_group *group,
                                const struct gf_held *from, struct gf_error *error) GF_CHECKED;
