/* The parameters of gamma. The variants of its kernels compute with them, whereas the default uses
 * a table. */
#ifndef GF_FILTERS_GAMMA_GAMMA_H
#define GF_FILTERS_GAMMA_GAMMA_H

struct gf_gamma {
    double value;
};

#endif
