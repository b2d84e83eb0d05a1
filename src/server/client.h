/* The client's side of a server of pictures: it uses one that is there, looks at it, starts one,
 * ends it. */
#ifndef GF_SERVER_CLIENT_H
#define GF_SERVER_CLIENT_H

#include "server/protocol.h"

/* A connection to a server that would do the work of this process on that device; NULL: there is
 * none. Where there is none it takes a few microseconds. *silent, unless silent is NULL: there is
 * one that does not answer. */
struct gf_remote *gf_server_connect(int device, bool *silent);
bool gf_server_present(int device);

/* Whether a run may be a server's: not where it has device memory of its own to keep to, or copies
 * in its own way, or is profiled; nor where the chain names more files than go with a request, or
 * has a result whose size depends on the pixels, since the client names the output before. */
bool gf_server_may_run(const char *chain, const struct gf_options *options);

/* What the server says of itself; false: there is none that answers. */
bool gf_server_look(struct gf_server_welcome *state);

/* Lets the server do what it has begun, and waits until it has ended. *was_there: there was one.
 * GF_ERROR_UNAVAILABLE: it does not answer. */
enum gf_status gf_server_stop(bool *was_there, struct gf_error *error) GF_CHECKED;

/* Starts a server for that device in the background, as `gpufilter --serve`, which ends after so
 * many seconds without work. Whatever keeps it from starting is its own matter: where there is no
 * GPU, or a server already, nothing happens. */
void gf_server_start(int device, int idle_s);

/* Runs this program with these arguments in the background. It keeps nothing of this process: no
 * file, no folder, no terminal, no signals. */
void gf_server_spawn(char *const *arguments);

/* How long a server may be silent: GF_SERVER_PATIENCE_MS, unless a test sets it. */
extern int gf_server_patience_ms;

#endif
