/* Adds up the logs and records of all parts of a run, for --report=json. Of several entries about
 * an output the one that was finished last counts. */
#pragma once

#include <stdio.h>

#include "base/json.h"
#include "batch/names/inputs.h"

struct gf_account; /* opaque */

enum gf_status gf_account_open(struct gf_account **account, struct gf_error *error) GF_CHECKED;
void gf_account_close(struct gf_account *account);
/* Adds a log, the record of an archive, or all records of a folder. A record that is damaged is
 * noted, and counts for nothing. */
enum gf_status gf_account_add(struct gf_account *account, const char *path,
                              struct gf_error *error) GF_CHECKED;
/* Notes the inputs that no log or record names. */
enum gf_status gf_account_expect(struct gf_account *account, const struct gf_inputs *inputs,
                                 struct gf_error *error) GF_CHECKED;
void gf_account_put(struct gf_account *account, FILE *file);
/* The keys of the object that gf_account_put() writes, for the manual; {0} ends them. */
extern const struct gf_key_help gf_account_keys[];
/* Fails if inputs are missing, records are damaged, or inputs failed. The status tells whether
 * another try may help. */
enum gf_status gf_account_conclude(const struct gf_account *account,
                                   struct gf_error *error) GF_CHECKED;
