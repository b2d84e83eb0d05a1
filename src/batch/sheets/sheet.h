/* Several pictures as one: joined side by side or one below the other, or as tiles of sheets. The
 * chain makes each picture first, as it does in every batch. */
#pragma once

#include "batch/request/request.h"
#include "gpufilter/filter.h"

enum gf_sheet_kind { GF_SHEET_JOIN, GF_SHEET_TILES };

enum { GF_SHEET_ACROSS, GF_SHEET_DOWN, GF_SHEET_GRID };

struct gf_sheet {
    enum gf_sheet_kind kind;
    /* The parameters of --join and --sheet, as they are given. */
    int direction, columns, gap, margin, gravity;
    char grid[GF_FILE_NAME_SIZE], cell[GF_FILE_NAME_SIZE];
    char label[GF_FILE_NAME_SIZE], font[GF_FILE_NAME_SIZE], places[GF_FILE_NAME_SIZE];
    int size, failed;
    struct gf_colour background, colour;
    /* Values computed from the parameters. */
    int rows; /* rows of a page; 0: one page with as many rows as the pictures need */
    int tile_width, tile_height, label_height;
    struct gf_template label_template;
    /* The template of the pages' names, and the options with which pages are written. */
    const struct gf_template *name;
    struct gf_options options;
    /* The request's chain and template, both made by gf_sheet_prepare(). */
    char *chain;
    struct gf_template picture_name;
};

/* Returns the declaration of --join or --sheet, whose name, parameters, summary and definition are
 * printed like those of a filter. */
const struct gf_filter *gf_sheet_declaration(enum gf_sheet_kind kind);

/* Returns the name of a direction of --join, for the shell's completion; NULL past the last one. */
const char *gf_sheet_direction(int index);

/* Parses the value of --join or --sheet. The caller frees *sheet by gf_sheet_free() even after a
 * failure. */
enum gf_status gf_sheet_parse(enum gf_sheet_kind kind, const char *value, struct gf_sheet *sheet,
                              struct gf_error *error) GF_CHECKED;
void gf_sheet_free(struct gf_sheet *sheet);

/* Turns a request, whose output and options are those of the pages, into a request for the
 * pictures on them. The sheet belongs to the request until the run has ended. */
enum gf_status gf_sheet_prepare(struct gf_sheet *sheet, struct gf_batch_request *request,
                                struct gf_error *error) GF_CHECKED;
