#include "cli/study/study.h"

#include "study/labs/lab.h"

enum gf_status gf_act_study(struct gf_command *command, struct gf_error *error)
{
    switch (command->action) {
    case GF_ACTION_EXPLAIN:
        return gf_act_explain(command, error);
    case GF_ACTION_LAB:
        return gf_act_labs(command, error);
    case GF_ACTION_REPORT:
        return gf_act_report(command, error);
    default:
        return gf_act_variants(command, error);
    }
}

const char *gf_study_lab_word(int index)
{
    const struct gf_lab *const lab = index ? gf_lab_at(index - 1) : NULL;
    return lab ? lab->name : index ? NULL : "all";
}
