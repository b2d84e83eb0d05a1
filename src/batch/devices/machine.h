/* Describes a machine, so that it differs from others whose times may differ. */
#ifndef GF_BATCH_DEVICES_MACHINE_H
#define GF_BATCH_DEVICES_MACHINE_H

enum { GF_MACHINE_SIZE = 400 };

/* "gpu 10de:2335 x1; cpu INTEL(R) XEON(R) PLATINUM 8592+; 16 processors; build 0123456789abcdef":
 * the kinds of all GPUs that the driver shows, by their PCI numbers, the kind of processor, how
 * many processors this process may use, and gf_build_id(). One line; starts no driver; takes less
 * than 0.1 ms. */
const char *gf_machine_describe(char text[GF_MACHINE_SIZE]);

#endif
