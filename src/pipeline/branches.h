/* Several outputs of one picture on their way: attempt_outputs.c opens the picture and forms
 * groups, branches.c takes a group from the picture to its outputs. */
#ifndef GF_PIPELINE_BRANCHES_H
#define GF_PIPELINE_BRANCHES_H

#include "pipeline/pipeline_state.h"

/* One output on its way. */
struct gf_branch {
    struct gf_picture_task *task;
    int number; /* of the output */
    bool pending;
    struct gf_plan_request request;
    struct gf_plan plan; /* of the part of the chain that it is at */
    bool planned;
    int end;  /* of that part, in the chain */
    int done; /* stages of the plan that are behind it */
    bool filtered, recoloured;
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
    size_t first_span; /* of the output that ends next */
    double begin_s;    /* likewise */
};

/* The branches that go the same way. */
struct gf_group {
    struct gf_branch *member[GF_PIPELINE_OUTPUTS_MAX];
    int count;
};

/* Ends a branch. After a failure *error is the branch's; otherwise its profile is kept. */
void gf_branch_end(struct gf_several *several, struct gf_branch *branch, enum gf_status status,
                   const struct gf_error *error);
/* Plans one part of the branch's chain. The part begins with filter 0, or with a filter that finds
 * a box. */
enum gf_status gf_branch_plan(struct gf_several *several, struct gf_branch *branch, int begin,
                              struct gf_format in, struct gf_error *error) GF_CHECKED;
/* Ends all branches of a group with a failure, unless another attempt may help: then the failure is
 * returned. */
enum gf_status gf_group_fail(struct gf_several *several, const struct gf_group *group,
                             enum gf_status status, const struct gf_error *why,
                             struct gf_error *error) GF_CHECKED;
/* Schedules the stages that the group shares from here on, and then takes its members on. `from` is
 * the picture that they have reached; NULL: the source, where a group stays pending if there is no
 * room for its shared picture. Returns failures of the device; other failures are stored in the
 * members. */
enum gf_status gf_group_advance(struct gf_several *several, const struct gf_group *group,
                                const struct gf_held *from, struct gf_error *error) GF_CHECKED;

#endif
