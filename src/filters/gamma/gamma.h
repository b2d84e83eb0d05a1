/* The parameters of gamma: the variants of its kernels compute with them, where the default looks
 * into a table. */
#ifndef GF_FILTERS_GAMMA_GAMMA_H
#define GF_FILTERS_GAMMA_GAMMA_H

struct gf_gamma {
    double value;
};

#endif
