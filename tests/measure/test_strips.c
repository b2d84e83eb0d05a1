/* CIEDE2000 and PSNR-HVS-M: published pairs of colours, and what scikit-image 0.26 (rgb2lab,
 * deltaE_ciede2000) and psnr_hvsm 0.3 find in pictures of all kinds. What is blended on gray is
 * rounded to 16 bits for CIEDE2000. */
#include "measure/noisy.h"

#include <math.h>
#include <stdlib.h>

#include "measure/strips.h"

/* The pairs of Sharma, Wu and Dalal, 2005, which stand on the formula's jumps. */
static const struct {
    double a[3], b[3], difference;
} published[] = {
    {{50, 2.6772, -79.7751}, {50, 0, -82.7485}, 2.0425},
    {{50, 3.1571, -77.2803}, {50, 0, -82.7485}, 2.8615},
    {{50, 2.8361, -74.02}, {50, 0, -82.7485}, 3.4412},
    {{50, -1.3802, -84.2814}, {50, 0, -82.7485}, 1},
    {{50, -1.1848, -84.8006}, {50, 0, -82.7485}, 1},
    {{50, -0.9009, -85.5211}, {50, 0, -82.7485}, 1},
    {{50, 0, 0}, {50, -1, 2}, 2.3669},
    {{50, -1, 2}, {50, 0, 0}, 2.3669},
    {{50, 2.49, -0.001}, {50, -2.49, 0.0009}, 7.1792},
    {{50, 2.49, -0.001}, {50, -2.49, 0.001}, 7.1792},
    {{50, 2.49, -0.001}, {50, -2.49, 0.0011}, 7.2195},
    {{50, 2.49, -0.001}, {50, -2.49, 0.0012}, 7.2195},
    {{50, -0.001, 2.49}, {50, 0.0009, -2.49}, 4.8045},
    {{50, -0.001, 2.49}, {50, 0.001, -2.49}, 4.8045},
    {{50, -0.001, 2.49}, {50, 0.0011, -2.49}, 4.7461},
    {{50, 2.5, 0}, {50, 0, -2.5}, 4.3065},
    {{50, 2.5, 0}, {73, 25, -18}, 27.1492},
    {{50, 2.5, 0}, {61, -5, 29}, 22.8977},
    {{50, 2.5, 0}, {56, -27, -3}, 31.903},
    {{50, 2.5, 0}, {58, 24, 15}, 19.4535},
    {{50, 2.5, 0}, {50, 3.1736, 0.5854}, 1},
    {{50, 2.5, 0}, {50, 3.2972, 0}, 1},
    {{50, 2.5, 0}, {50, 1.8634, 0.5757}, 1},
    {{50, 2.5, 0}, {50, 3.2592, 0.335}, 1},
    {{60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}, 1.2644},
    {{63.0109, -31.0961, -5.8663}, {62.8187, -29.7946, -4.0864}, 1.263},
    {{61.2901, 3.7196, -5.3901}, {61.4292, 2.248, -4.962}, 1.8731},
    {{35.0831, -44.1164, 3.7933}, {35.0232, -40.0716, 1.5901}, 1.8645},
    {{22.7233, 20.0904, -46.694}, {23.0331, 14.973, -42.5619}, 2.0373},
    {{36.4612, 47.858, 18.3852}, {36.2715, 50.5065, 21.2231}, 1.4146},
    {{90.8027, -2.0831, 1.441}, {91.1528, -1.6435, 0.0447}, 1.4441},
    {{90.9257, -0.5406, -0.9208}, {88.6381, -0.8985, -0.7239}, 1.5381},
    {{6.7747, -0.2908, -2.4247}, {5.8714, -0.0985, -2.2286}, 0.6377},
    {{2.0776, 0.0795, -1.135}, {0.9033, -0.0636, -0.5514}, 0.9082},
};

static void differences_are_the_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const double found = gf_ciede2000(published[i].a, published[i].b);
        const double back = gf_ciede2000(published[i].b, published[i].a);
        assert_true(fabs(found - published[i].difference) < 5.1e-5);
        assert_true(fabs(found - back) < 1e-12);
        assert_true(gf_ciede2000(published[i].a, published[i].a) == 0);
    }
}

static const struct {
    struct gf_format format;
    double deltae, psnr;
} measured[] = {
    {{160, 120, 3, 8, GF_SAMPLES_INTEGER}, 1.19419440, 68.23039325},
    {{300, 67, 3, 8, GF_SAMPLES_INTEGER}, 1.18988996, 68.48791446},
    {{131, 130, 3, 16, GF_SAMPLES_INTEGER}, 1.19168592, 68.22589250},
    {{97, 71, 4, 8, GF_SAMPLES_INTEGER}, 0.82399550, 72.01870090},
    {{140, 33, 2, 16, GF_SAMPLES_INTEGER}, 0.43871787, 69.49788485},
    {{40, 17, 1, 8, GF_SAMPLES_INTEGER}, 0.83072573, 65.31186330},
    {{9, 8, 3, 8, GF_SAMPLES_INTEGER}, 1.31911916, 71.08135810},
};

static void measures_are_those_of_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        struct gf_image a = make(measured[i].format, false), b = make(measured[i].format, true);
        double found[2], again[2];
        assert_int_equal(gf_deltae2000(&a, &b, 1, &found[0], &failure), GF_OK);
        assert_int_equal(gf_psnr_hvs_m(&a, &b, 1, &found[1], &failure), GF_OK);
        assert_true(fabs(found[0] - measured[i].deltae) < 2e-5);
        assert_true(fabs(found[1] - measured[i].psnr) < 2e-6);
        for (int threads = 2; threads < 6; threads++) {
            assert_int_equal(gf_deltae2000(&a, &b, threads, &again[0], &failure), GF_OK);
            assert_int_equal(gf_psnr_hvs_m(&a, &b, threads, &again[1], &failure), GF_OK);
            assert_memory_equal(found, again, sizeof found);
        }
        assert_int_equal(gf_deltae2000(&a, &a, 2, &found[0], &failure), GF_OK);
        assert_int_equal(gf_psnr_hvs_m(&a, &a, 2, &found[1], &failure), GF_OK);
        assert_true(found[0] == 0 && isinf(found[1]));
        gf_image_free(&a);
        gf_image_free(&b);
    }
}

static void small_pictures_have_no_blocks(void **state)
{
    (void)state;
    for (int i = 0; i < 10 * 10; i++) {
        const struct gf_format format = {1 + i % 10, 1 + i / 10, 1 + i % 4, i % 3 ? 8 : 16,
                                         GF_SAMPLES_INTEGER};
        struct gf_image a = make(format, false), b = make(format, true);
        double deltae, psnr;
        assert_int_equal(gf_deltae2000(&a, &b, 3, &deltae, &failure), GF_OK);
        assert_int_equal(gf_psnr_hvs_m(&a, &b, 3, &psnr, &failure), GF_OK);
        assert_true(deltae >= 0 && deltae < 10);
        assert_int_equal(!!isnan(psnr), format.width < 8 || format.height < 8);
        gf_image_free(&a);
        gf_image_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_the_published),
        cmocka_unit_test(measures_are_those_of_others),
        cmocka_unit_test(small_pictures_have_no_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
