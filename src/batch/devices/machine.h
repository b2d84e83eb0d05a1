/* Describes a machine by a text. Machines on which the measured times would differ have different
 * texts. */
#ifndef GF_BATCH_DEVICES_MACHINE_H
#define GF_BATCH_DEVICES_MACHINE_H

enum { GF_MACHINE_SIZE = 400 };

/* Writes one line such as "gpu 10de:2335 x1; cpu INTEL(R) XEON(R) PLATINUM 8592+; 16 processors;
 * build 0123456789abcdef": the kinds of all GPUs that the driver shows, by their PCI numbers, the
 * kind of processor, the number of processors that this process may use, and gf_build_id(). The
 * call starts no driver and takes less than 0.1 ms. */
const char *gf_machine_describe(char text[GF_MACHINE_SIZE]);

#endif
