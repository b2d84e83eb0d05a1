/* Functions for clients of a picture server: they use a server, ask for its state, start it and end
 * it. */
#pragma once

#include <stdatomic.h>

#include "server/protocol.h"

/* Connects to a server that would do the work of this process on that device. Returns NULL if there
 * is no such server, which takes a few microseconds to find out. *silent, unless silent is NULL,
 * becomes true if there is a server that does not answer. */
struct gf_remote *gf_server_connect(int device, bool *silent);
bool gf_server_present(int device);

/* Whether a server may do this run. It may not if the run limits device memory, chooses how to
 * copy, or is profiled; nor if the chain names more files than a request can have, or if the
 * result's size depends on the pixels, since the client names the output before it knows the
 * size. */
bool gf_server_may_run(const char *chain, const struct gf_options *options);

/* Whether processes of this run's own may filter all its pictures. They may not, either, if the run
 * limits its memory, or if the chain names files, which each request would read anew. */
bool gf_server_may_run_all(const char *chain, const struct gf_options *options);

/* ---- a server at the other end of a socket ---- */

/* The server of one or more connections. */
struct gf_server_peer {
    char name[40]; /* the server's name for messages */
    atomic_bool failed;
};

/* Sends the first message. */
bool gf_server_say_hello(int socket, enum gf_server_wish wish, int device,
                         const struct gf_server_identity *identity);
/* Waits for the answer, and returns a connection to a process of this run's own, which owns the
 * socket. Returns NULL and closes the socket if the process does not accept work. */
struct gf_remote *gf_server_link(int socket, struct gf_server_peer *peer);

/* ---- the server itself ---- */

/* Asks the server for its state. Returns false if no server answers. */
bool gf_server_look(struct gf_server_welcome *state);

/* Tells the server to finish the work that it has begun and to end, and waits until it has ended.
 * *was_there becomes whether there was a server. Returns GF_ERROR_UNAVAILABLE if the server does
 * not answer. */
enum gf_status gf_server_stop(bool *was_there, struct gf_error *error) GF_CHECKED;

/* Starts `gpufilter --serve` for that device in the background. The server ends after idle_s
 * seconds without work. The call does not report whether the server starts: without a GPU, or if
 * there is a server already, it ends at once. */
void gf_server_start(int device, int idle_s);

/* The time for which a server may be silent: GF_SERVER_PATIENCE_MS, unless a test sets it. */
extern int gf_server_patience_ms;
