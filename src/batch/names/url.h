/* Names that are URLs, as commands that transfer files take them. What signs a URL is a secret, and
 * may be another one the next time: the user and the password before the host and, of http and
 * https, the parameters from ? or # on. Messages, logs and records have the name without it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the scheme with which the name begins, as 5 for "s3://bucket/a.tar"; 0: the
 * name is no URL. */
size_t gf_url_scheme(const char *name);
/* Whether the name is a URL of http or https. */
bool gf_url_is_web(const char *name);
/* Returns the length of the name without parameters. */
size_t gf_url_path(const char *name);
/* Returns the place of "USER:PASSWORD@" in a URL, and its length; 0: there is none. */
const char *gf_url_user(const char *name, size_t *length);
/* Removes from a name what signs it, in place. */
void gf_url_hide(char *name);
/* Removes from all URLs in a text what signs them, in place. */
void gf_url_hide_all(char *text);
/* Returns the name, from malloc(), signed as the URL `given` is; NULL when out of memory. */
char *gf_url_sign(const char *name, const char *given);
