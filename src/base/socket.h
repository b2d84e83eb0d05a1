/* Messages with descriptors over a socket that keeps their bounds (SOCK_SEQPACKET). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { GF_SOCKET_DESCRIPTORS_MAX = 16 };

/* Sends the message with `count` descriptors. `flags` are sendmsg()'s, such as MSG_DONTWAIT. False
 * with errno. */
bool gf_socket_send(int socket, const void *message, size_t size, const int *descriptor, int count,
                    int flags);
/* Receives a message of at most `size` bytes, and stores the descriptors that come with it; the
 * other of the `places` get -1. Returns the message's bytes; 0 with errno 0 where the other side
 * has hung up or sent an empty message, with EAGAIN where MSG_DONTWAIT finds no message, with
 * EPROTO where a message is too large or has more descriptors than places, all of which are closed.
 */
size_t gf_socket_receive(int socket, void *message, size_t size, int *descriptor, int places,
                         int flags);
/* Closes those that are not -1. All become -1. */
void gf_close_descriptors(int *descriptor, int count);
