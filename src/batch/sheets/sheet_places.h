/* The file that tells where each picture lies on its page, for sprites: CSS or JSON. */
#pragma once

#include "batch/request/request.h"
#include "codec/codec.h"

struct gf_sheet_place {
    const char *input; /* the picture's name */
    int x, y, width, height;
};

struct gf_places {
    struct gf_output *output; /* NULL: there is no such file */
    const char *path, *page;  /* the names of the file and of the page */
    struct gf_sheet_place *place;
    size_t count;
};

/* Whether the name says which form the file has. */
bool gf_places_named(const char *path);
/* Fails if two pictures would have one name in CSS. */
enum gf_status gf_places_check(const char *path, const struct gf_inputs *inputs,
                               struct gf_error *error) GF_CHECKED;
/* Opens the file, which has room for the places of `room` pictures. */
enum gf_status gf_places_open(struct gf_places *places, const char *path, const char *page,
                              size_t room, const struct gf_options *options,
                              struct gf_error *error) GF_CHECKED;
/* Writes the places and makes the file visible. */
enum gf_status gf_places_write(struct gf_places *places, int page_width, int page_height,
                               struct gf_error *error) GF_CHECKED;
void gf_places_close(struct gf_places *places);
