/* The topics that --help and --man explain, a page of the manual each. */
#pragma once

struct gf_topic {
    const char *name, *summary;
    const char *text; /* the page as gf_man_document() reads it; NULL: the study prints it */
};

/* Return the topic at `index`, and its name; NULL past the last one. */
const struct gf_topic *gf_topic_at(int index);
const char *gf_topic_name(int index);
/* Returns the topic of that name, or NULL. */
const struct gf_topic *gf_topic_find(const char *name);
