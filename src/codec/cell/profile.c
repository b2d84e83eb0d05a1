/* ICC profiles that came with pictures: Little CMS reads them in a cell. The program gets a
 * verdict, or tables that it checks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/spans.h"
#include "base/time_limit.h"
#include "codec/cell/cell.h"
#include "codec/cell/process.h"
#include "icc/icc_build.h"

/* A profile takes milliseconds. */
enum { PROFILE_S = 10 };

/* ---- the program's side ---- */

static enum gf_status write_request(const struct gf_icc_wish *wish, bool is_question,
                                    unsigned char *shared, union gf_cell_message *message,
                                    struct gf_error *error)
{
    if (wish->from.size > GF_CELL_HALF || wish->to.size > GF_CELL_HALF - wish->from.size)
        return gf_fail(error, GF_ERROR_INPUT, "the ICC profile is too large for a cell");
    gf_cell_prepare(message, GF_CELL_PROFILE);
    message->profile.is_question = is_question;
    message->profile.from_bytes = wish->from.size;
    message->profile.to_bytes = wish->to.size;
    message->profile.inputs = wish->inputs;
    message->profile.outputs = wish->outputs;
    message->profile.bits = wish->bits;
    message->profile.intent = wish->intent;
    message->profile.black_point = wish->black_point;
    memcpy(shared, wish->from.data, wish->from.size);
    if (wish->to.size)
        memcpy(shared + wish->from.size, wish->to.data, wish->to.size);
    return GF_OK;
}

/* Copies the tables before they are looked at, since the cell can change the shared memory. */
static enum gf_status take_tables(struct gf_cell_talk *talk, const struct gf_icc_wish *wish,
                                  size_t size, struct gf_icc_transform **transform,
                                  struct gf_error *error)
{
    struct gf_icc_transform *const copy = malloc(size ? size : 1);
    if (!copy)
        return gf_fail_memory(error);
    memcpy(copy, talk->cell->shared + GF_CELL_HALF, size);
    if (gf_icc_transform_fits(copy, size, wish)) {
        *transform = copy;
        return GF_OK;
    }
    free(copy);
    return gf_cell_fail_senseless(talk, error);
}

static enum gf_status ask(struct gf_cell_talk *talk, const struct gf_icc_wish *wish, bool *sound,
                          struct gf_icc_transform **transform, struct gf_error *error)
{
    union gf_cell_message message;
    const struct gf_cell_tables *const answer = &message.tables;
    GF_TRY(write_request(wish, sound != NULL, talk->cell->shared, &message, error));
    gf_cell_allow(talk, 64 * (uint64_t)(wish->from.size + wish->to.size), PROFILE_S);
    gf_cell_say(talk, &message, NULL);
    enum gf_status status = gf_cell_wait_for(talk, GF_CELL_TABLES, &message, error);
    if (!status && answer->status)
        return gf_cell_fail_reported(talk, answer->status, answer->error, error);
    if (!status && sound)
        *sound = answer->is_sound;
    else if (!status)
        status = take_tables(talk, wish, (size_t)answer->bytes, transform, error);
    return status;
}

/* A profile that kills its cell is not sound, unless the picture's own time has ended the cell. */
static enum gf_status work(const struct gf_icc_wish *wish, bool *sound,
                           struct gf_icc_transform **transform, struct gf_error *error)
{
    struct gf_cell_talk talk = {.name = "",
                                .end_s = gf_now() + fmin(PROFILE_S, fmax(gf_time_left(), 1e-3))};
    GF_TRY(gf_cell_take("icc", wish->from.sandbox_program, wish->from.sandbox == GF_SANDBOX_ALL,
                        &talk.cell, error));
    const enum gf_status status = ask(&talk, wish, sound, transform, error);
    if (talk.cell)
        gf_cell_give_back(talk.cell);
    else if (sound && !gf_time_is_up()) {
        *sound = false;
        return GF_OK;
    }
    return status;
}

void gf_cells_read_profiles(void)
{
    gf_icc_set_cell_worker(work);
}

/* ---- the cell's side ---- */

void gf_cell_answer_profile(const struct gf_cell_profile *request, unsigned char *shared,
                            union gf_cell_message *message)
{
    struct gf_error error = {0};
    const struct gf_icc_wish wish = {
        .from = {.data = shared, .size = (size_t)request->from_bytes},
        .to = {.data = shared + request->from_bytes, .size = (size_t)request->to_bytes},
        .inputs = request->inputs,
        .outputs = request->outputs,
        .bits = request->bits,
        .intent = request->intent,
        .black_point = request->black_point};
    struct gf_icc_transform *transform = NULL;
    gf_cell_prepare(message, GF_CELL_TABLES);
    if (request->is_question)
        message->tables.is_sound = gf_icc_is_sound(wish.from);
    else
        message->tables.status = gf_icc_build(&wish, &transform, &error);
    if (transform) {
        message->tables.bytes = transform->bytes;
        memcpy(shared + GF_CELL_HALF, transform, transform->bytes);
    }
    memcpy(message->tables.error, error.text, sizeof error.text);
    free(transform);
}
