/* The parameters of gamma. The variants of its kernels compute with them, whereas the default uses
 * a table. */
#pragma once

struct gf_gamma {
    double value;
};
