/* Hashes of the properties that a client and a server must have in common. build: the program. gpu:
 * the GPUs, by their UUIDs, and the variables that choose among them. place: the cgroup, the
 * processors, and the limits of memory and of files' sizes, so that a job of a cluster never works
 * on another job's GPU, nor beyond its own limits. Within a user's session (user-UID.slice) all
 * cgroups count as one: a service of that user serves the user's shells. */
#ifndef GF_SERVER_IDENTITY_H
#define GF_SERVER_IDENTITY_H

#include "server/protocol.h"

void gf_server_identify(struct gf_server_identity *identity);

/* Ends a line of /proc/self/cgroup after a component user-UID.slice, if there is one. */
void gf_server_shorten_cgroup(char *line, unsigned user);

#endif
