#ifndef GF_STUDY_SAVED_SAVED_HTML_H
#define GF_STUDY_SAVED_SAVED_HTML_H

#include <stdio.h>

#include "study/saved/saved.h"

/* Writes the whole page: reports of one kind side by side, and then each report. */
enum gf_status gf_saved_html(FILE *file, const struct gf_saved *saved, int count,
                             struct gf_error *error) GF_CHECKED;

#endif
