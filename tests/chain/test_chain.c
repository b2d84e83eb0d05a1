/* The chain's grammar, its messages, and its handling of nonsense. Values go into the filters'
 * own parameter structs; they are read back here through the declarations, as help and the man page
 * do. */
#include <math.h>

#include "base/text/plain_text.h"
#include "chain/chain.h"
#include "chain/params.h"
#include "stage/border.h"
#include "support.h"

static struct gf_chain chain;

static void parse(const char *text)
{
    struct gf_error error = {0};
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
}

static const struct gf_param *param_of(int item, const char *name)
{
    const struct gf_param *param = gf_filter_params(chain.item[item].filter);
    while (param->name && strcmp(param->name, name))
        param++;
    if (!param->name)
        fail_msg("%s has no parameter %s", gf_filter_name(chain.item[item].filter), name);
    return param;
}

static const void *member(int item, const char *name)
{
    return (const char *)chain.item[item].params + param_of(item, name)->offset;
}

static double number(int item, const char *name)
{
    const enum gf_param_type type = param_of(item, name)->type;
    return type == GF_TYPE_INT || type == GF_TYPE_CHOICE ? *(const int *)member(item, name)
                                                         : *(const double *)member(item, name);
}

static void assert_number(const char *text, int item, const char *name, double expected)
{
    parse(text);
    const double value = number(item, name);
    if (value != expected)
        fail_msg("%s: %s is %g instead of %g", text, name, value, expected);
    gf_chain_free(&chain);
}

static void assert_error(const char *text, const char *expected)
{
    struct gf_error error = {0};
    const enum gf_status status = gf_chain_parse(text, &chain, &error);
    if (status != GF_ERROR_USAGE || strcmp(error.text, expected))
        fail_msg("'%s': %s, \"%s\" instead of \"%s\"", text, gf_status_name(status), error.text,
                 expected);
    assert_null(chain.item);
    assert_int_equal(chain.count, 0);
}

/* ---- accepted ---- */

static void assert_colour(const char *text, double red, double green, double blue)
{
    parse(text);
    const struct gf_colour *const colour = chain.item[0].params; /* flatten's first member */
    const double expected[] = {red, green, blue};
    for (int c = 0; c < 3; c++) {
        if (fabs(colour->part[c] - expected[c]) > 1e-9)
            fail_msg("%s: channel %d is %.9g", text, c, colour->part[c]);
    }
    assert_int_equal(colour->word, 0);
    gf_chain_free(&chain);
}

static void test_colours(void **state)
{
    assert_colour("flatten", 1, 1, 1);
    assert_colour("flatten=black", 0, 0, 0);
    assert_colour("flatten=color=BLACK", 0, 0, 0);
    assert_colour("flatten=colour=orange", 1, 165 / 255.0, 0);
    assert_colour("flatten=#f80", 1, 0x88 / 255.0, 0);
    assert_colour("flatten=#FF8800", 1, 0x88 / 255.0, 0);
    assert_colour("flatten=#ffff80010000", 1, 0x8001 / 65535.0, 0);
    parse("flatten=none");
    assert_int_equal(((const struct gf_colour *)chain.item[0].params)->word, 1);
    gf_chain_free(&chain);
    static const char *const wrong[] = {"#",       "#ff",    "#ffff", "#ff880", "#ff88000",
                                        "#gggggg", "ffffff", "Wite",  "#-12345"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[60], message[120];
        snprintf(text, sizeof text, "flatten=%s", wrong[i]);
        snprintf(message, sizeof message,
                 "flatten: colour=%s is not a colour such as white or #ff8800", wrong[i]);
        assert_error(text, message);
    }
}

static void test_names(void **state)
{
    static const char *const empty[] = {NULL, "", "  ", "\t\n"};
    for (int i = 0; i < 4; i++) {
        parse(empty[i]);
        assert_int_equal(chain.count, 0);
        gf_chain_free(&chain);
    }
    parse(" blur , equalize,flip ,flop");
    static const char *const names[] = {"blur", "equalize", "vflip", "hflip"};
    assert_int_equal(chain.count, 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(gf_filter_name(chain.item[i].filter), names[i]);
    gf_chain_free(&chain);
}

/* A number with a name before it gives each parameter of that type, also those with a digit in
 * their names. */
static void test_every_name(void **state)
{
    int named = 0;
    for (int i = 0; gf_filter_at(i); i++) {
        const struct gf_param *const list = gf_filter_params(gf_filter_at(i));
        for (const struct gf_param *param = list; param->name; param++) {
            char text[100];
            if ((param->type != GF_TYPE_FLOAT && param->type != GF_TYPE_INT) || list->required)
                continue;
            snprintf(text, sizeof text, "%s=%s=%.9g", gf_filter_name(gf_filter_at(i)), param->name,
                     param->greatest);
            struct gf_error error = {0};
            if (!gf_chain_parse(text, &chain, &error))
                gf_chain_free(&chain);
            else if (strstr(error.text, "is not a number"))
                fail_msg("%s: %s", text, error.text);
            named++;
        }
    }
    assert_true(named > 50);
    assert_number("lens=k1=-0.05:k2=0.5", 0, "k1", -0.05);
    assert_number("lens=k1=-0.05:k2=0.5", 0, "k2", 0.5);
}

static void test_positions(void **state)
{
    assert_number("blur=2.5", 0, "sigma", 2.5);
    assert_number("blur=2.5:wrap", 0, "border", GF_BORDER_WRAP);
    assert_number("blur= 2.5 : wrap ", 0, "sigma", 2.5);
    assert_number("blur=sigma=3", 0, "sigma", 3);
    assert_number("blur=border=reflect:sigma=3", 0, "sigma", 3);
    assert_number("blur=3:border=constant", 0, "border", GF_BORDER_CONSTANT);
    assert_number("blur= border= constant ", 0, "border", GF_BORDER_CONSTANT);
    assert_number("unsharp=2:0.5:0.1:wrap", 0, "threshold", 0.1);
    assert_number("blur=1,blur=2,blur=3", 2, "sigma", 3);
    assert_number("boxblur=+7", 0, "radius", 7);
    assert_number("brightness=-.5", 0, "x", -0.5);
    assert_number("gamma=1e1", 0, "value", 10);
}

/* The words of other programs, in any case, and numbers as they are said. */
static void test_other_words(void **state)
{
    assert_number("blur=border=Reflect", 0, "border", GF_BORDER_REFLECT);
    assert_number("overlay=gravity=South-East", 0, "gravity", GF_GRAVITY_SOUTHEAST);
    assert_number("overlay=gravity=top_left", 0, "gravity", GF_GRAVITY_NORTHWEST);
    assert_number("overlay=position=right", 0, "gravity", GF_GRAVITY_EAST);
    assert_number("text=a:align=center", 0, "align", 1);
    assert_number("text=a:align=right", 0, "align", 2); /* not east: it has the word itself */
    assert_number("overlay=opacity=50%", 0, "opacity", 0.5);
    assert_number("brightness=-20%", 0, "x", -0.2);
    assert_number("crop=aspect=16/9", 0, "aspect", 16.0 / 9);
    assert_number("crop=aspect=1.5", 0, "aspect", 1.5);
    assert_number("blur=1/2", 0, "sigma", 0.5);
    assert_error(
        "overlay=opacity=150%",
        "overlay: opacity=150% is outside 0..1 (multiplies the alpha of the overlaid picture)");
    assert_error("blur=50%", "blur: sigma=50% is not a number");
    assert_error("blur=1/0", "blur: sigma=1/0 is not a number");
    assert_error("boxblur=4/2", "boxblur: radius=4/2 is not a number");
    assert_error("crop=aspect=16:9", "crop: '9' has no name; a ratio is aspect=16/9");
    assert_error("crop=1:2:aspect=2", "crop: w, h and aspect are one too many: leave out one");
    assert_error("crop=width=1:w=2", "crop: w is given twice");
    assert_error("nlmeans=height=2",
                 "nlmeans: unknown parameter 'height'; it has h, search, patch, border, region, "
                 "feather, variant");
}

static void assert_text(const char *text, const char *expected)
{
    parse(text);
    assert_string_equal(member(0, "text"), expected);
    gf_chain_free(&chain);
}

static void test_quotes(void **state)
{
    assert_number("blur='2':\"wrap\"", 0, "sigma", 2);
    assert_number("blur=sigma='2.25'", 0, "sigma", 2.25);
    assert_number("blur=\\2", 0, "sigma", 2);
    assert_error("blur='2:wrap'", "blur: sigma=2:wrap is not a number");
    assert_error("blur=2\\,blur", "blur: sigma=2,blur is not a number");
    assert_error("blur=2\\:wrap", "blur: sigma=2:wrap is not a number");
    assert_error("blur='2\\'",
                 "blur: sigma=2\\ is not a number"); /* '' takes a backslash as it is */
    assert_error("blur=\"2\\\"3\"", "blur: sigma=2\"3 is not a number");
    /* Blanks stay where quotes or a backslash hold them, in texts and names. */
    assert_text("text='  x  ' :size=10", "  x  ");
    assert_text("text= \" x\"  ", " x");
    assert_text("text=x\\  ,invert", "x ");
    assert_text("text= x y  ,invert", "x y");
    assert_text("text=' '' '", "  ");
    assert_number("blur=' 2 ' , invert", 0, "sigma", 2);
    assert_error("pad=' 9 ':9:colour=' whit '",
                 "pad: colour=whit is not a colour such as white or #ff8800");
    /* Within a value that does not begin with a quote they are characters. */
    assert_text("text=it's five o'clock", "it's five o'clock");
    assert_text("text=text= 5\" and 6',invert", "5\" and 6'");
    assert_text("text= 'it'\\''s, 5:\"'", "it's, 5:\"");
    assert_error("blur=2'", "blur: sigma=2' is not a number");
    assert_error("blur='2", "blur: a quote is left open, or a value is too long");
    assert_error("blur=\"2'", "blur: a quote is left open, or a value is too long");
}

static void test_defaults(void **state)
{
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        char text[200];
        parse(default_chain(filter, text, sizeof text));
        const bool named = strchr(text, '=');
        for (const struct gf_param *param = gf_filter_params(filter); param->name; param++) {
            assert_non_null(param->help);
            assert_true(param->offset < filter->params_size);
            /* Colours have a test of their own; no numbers are a matrix's default. */
            if (named || param->required || param->type == GF_TYPE_COLOUR ||
                param->type == GF_TYPE_MATRIX)
                continue;
            if (param->type == GF_TYPE_FILE || param->type == GF_TYPE_TEXT)
                assert_string_equal(member(0, param->name), "");
            else if (param->type == GF_TYPE_LENGTH)
                assert_int_equal(((const struct gf_length *)member(0, param->name))->unit,
                                 GF_UNSET);
            else if (isnan(param->value))
                assert_true(isnan(number(0, param->name)));
            else
                assert_true(number(0, param->name) == param->value);
            if (param->type != GF_TYPE_CHOICE && !isnan(param->value))
                assert_true(param->value >= param->least && param->value <= param->greatest);
        }
        gf_chain_free(&chain);
    }
}

static void test_registry(void **state)
{
    const struct gf_filter *filter;
    int count = 0;
    for (; (filter = gf_filter_at(count)); count++) {
        assert_ptr_equal(gf_filter_find(gf_filter_name(filter)), filter);
        if (gf_filter_alias(filter))
            assert_ptr_equal(gf_filter_find(gf_filter_alias(filter)), filter);
        assert_true(*gf_filter_summary(filter) && *gf_filter_definition(filter));
        assert_string_equal(gf_filter_suggest(gf_filter_name(filter)), gf_filter_name(filter));
        assert_true(filter->kind == GF_POINT ? (filter->point || filter->expand) && !filter->cpu
                                             : (filter->cpu || filter->expand) && !filter->point);
    }
    assert_null(gf_filter_at(-1));
    assert_null(gf_filter_find("nothing"));
    assert_string_equal(gf_filter_name(gf_filter_find("flip")), "vflip");
    assert_string_equal(gf_filter_name(gf_filter_find("flop")), "hflip");
}

static void test_words(void **state)
{
    parse("threshold=otsu");
    assert_true(isnan(number(0, "value")));
    gf_chain_free(&chain);
    assert_number("threshold=0.25", 0, "value", 0.25);
    assert_number("threshold=value=0.25", 0, "value", 0.25);
    assert_number("rotate=270", 0, "angle", 270);
    assert_number("equalize=mode=lightness", 0, "mode", 3);
}

static void assert_length(const char *text, const char *name, double value, enum gf_unit unit)
{
    parse(text);
    const struct gf_length *const length = member(0, name);
    assert_true(length->value == value);
    assert_int_equal(length->unit, unit);
    gf_chain_free(&chain);
}

static void test_lengths(void **state)
{
    assert_length("overlay=scale=20%", "scale", 20, GF_PERCENT);
    assert_length("overlay=scale=0.5", "scale", 0.5, GF_PIXELS);
    assert_length("overlay", "scale", 1, GF_PIXELS);
    assert_length("text=a:size=5%", "size", 5, GF_PERCENT);
    assert_error("overlay=scale=0%", "overlay: scale=0% is outside 0%..1000%");
    assert_error("overlay=scale=17", "overlay: scale=17 is outside 0.01..16 (multiplies the size "
                                     "of the overlaid picture (by resize))");
    assert_length("crop=width=20:top=30%:h=1", "w", 20, GF_PIXELS);
    assert_length("crop=width=20:top=30%:h=1", "y", 30, GF_PERCENT);
    assert_length("crop=20:30%", "w", 20, GF_PIXELS);
    assert_length("crop=20:30%", "h", 30, GF_PERCENT);
    assert_length("crop=20:30%", "x", 0, GF_UNSET);
    assert_length("crop=w=640px", "w", 640, GF_PIXELS);
    assert_length("crop=w=12.5%", "w", 12.5, GF_PERCENT);
    assert_error("crop=w=12.5", "crop: w=12.5 is not a whole number of pixels");
    assert_error("crop=w=12%%", "crop: w=12%% is not a length (pixels, or per cent as in 50%)");
    assert_error("crop=w=wide", "crop: w=wide is not a length (pixels, or per cent as in 50%)");
    assert_error("crop=w=-4", "crop: w=-4 is outside 0..1e+09 (columns to keep)");
}

static void test_matrices(void **state)
{
    static const char *const same[] = {
        "convolve=1 2 3/4 5 6/7 8 9", "convolve=kernel='1 2 3|4 5 6|7 8 9'",
        "convolve= 1  2 3 / 4 5 6 /\t7 8 9 ", "convolve=1 2 3/4 5 6|7 8 9:1"};
    for (size_t i = 0; i < 4; i++) {
        parse(same[i]);
        const struct gf_matrix *const matrix = member(0, "kernel");
        assert_int_equal(matrix->width, 3);
        assert_int_equal(matrix->height, 3);
        for (int k = 0; k < 9; k++)
            assert_true(matrix->value[k] == (float)(k + 1));
        gf_chain_free(&chain);
    }
    parse("convolve=-.5");
    assert_int_equal(((const struct gf_matrix *)member(0, "kernel"))->width, 1);
    gf_chain_free(&chain);
    assert_error("convolve=1 2/3 4", "convolve: kernel is 2x2; both sides must be odd");
    assert_error("convolve=1 2 3/4 5",
                 "convolve: kernel=1 2 3/4 5 is not a matrix with rows of one length");
    assert_error("convolve=1 2 3/4 5 6 7",
                 "convolve: kernel=1 2 3/4 5 6 7 is not a matrix with rows of one "
                 "length");
    assert_error("convolve=1 2 3/",
                 "convolve: kernel=1 2 3/ is not a matrix with rows of one length");
    assert_error("convolve=1 x 3",
                 "convolve: kernel=1 x 3 is not a matrix such as 0 1 0/1 -4 1/0 1 0");
    assert_error("convolve=1 1e300 3",
                 "convolve: kernel=1 1e300 3 is not a matrix such as 0 1 0/1 -4 1/0 1 0");
}

/* 31 x 31 numbers, written at length, and one more column, and one more row. */
static void test_largest_matrix(void **state)
{
    for (int more = 0; more < 3; more++) {
        const int columns = 31 + 2 * (more == 1), rows = 31 + 2 * (more == 2);
        char *const text = calloc(1, 40000), *end = text;
        assert_non_null(text);
        end += sprintf(end, "convolve=");
        for (int i = 0; i < rows * columns; i++)
            end += sprintf(end, "%s-0.%012d", i % columns ? " " : i ? "/" : "", i);
        if (!more) {
            parse(text);
            const struct gf_matrix *const matrix = member(0, "kernel");
            assert_int_equal(matrix->width, 31);
            assert_int_equal(matrix->height, 31);
            assert_true(matrix->value[960] == -960e-12f);
            gf_chain_free(&chain);
        } else {
            assert_error(text, "convolve: kernel is larger than 31x31");
        }
        free(text);
    }
}

/* ---- messages ---- */

static void test_errors(void **state)
{
    assert_error("blur=sigma=999",
                 "blur: sigma=999 is outside 0.1..250 (standard deviation, in pixels)");
    assert_error("blur=0", "blur: sigma=0 is outside 0.1..250 (standard deviation, in pixels)");
    assert_error("blur=two", "blur: sigma=two is not a number");
    assert_error("contrast=0x10", "contrast: x=0x10 is not a number");
    assert_error("blur=nan", "blur: sigma=nan is not a number");
    assert_error("blur=inf", "blur: sigma=inf is not a number");
    assert_error("blur=1e999", "blur: sigma=1e999 is not a number");
    assert_error("blur=2 3", "blur: sigma=2 3 is not a number");
    assert_error(
        "blur=2,5",
        "unknown filter '5' (gf_filter_at lists them); a comma within a value needs quotes");
    assert_error("5,blur", "unknown filter '5' (gf_filter_at lists them)");
    assert_error("boxblur=1.5", "boxblur: radius=1.5 is not a whole number");
    assert_error("blur=2:reflekt", "blur: border=reflekt is none of edge, reflect, wrap, constant");
    assert_error("blur=2:edge:1", "blur: one value too many: '1'");
    assert_error("invert=1", "invert: one value too many: '1'");
    assert_error("blur=border=edge:2",
                 "blur: '2' comes after a named parameter, so it needs its name");
    assert_error("blur=2:sigma=3", "blur: sigma is given twice");
    assert_error("blur=sigma=2:sigma=3", "blur: sigma is given twice");
    assert_error("blur=", "blur: an empty parameter");
    assert_error("blur=2:", "blur: an empty parameter");
    assert_error("blur=sigma=", "blur: sigma= is not a number");
    assert_error("blur,", "the chain ends with ','");
    assert_error("blur,,blur", "a filter's name is missing at ',blur'");
    assert_error(",", "a filter's name is missing at ','");
    assert_error("=2", "a filter's name is missing at '=2'");
    assert_error("threshold=otso",
                 "threshold: value=otso is none of otsu, adaptive, gaussian, sauvola or a number");
    assert_error("rotate=45:sharp",
                 "rotate: kernel=sharp is none of linear, cubic, lanczos3, nearest");
    struct gf_error error = {0};
    assert_int_equal(gf_chain_parse("convolve", &chain, &error), GF_ERROR_USAGE);
    assert_int_equal(strncmp(error.text, "convolve: kernel is missing: ", 29), 0);
}

/* Every variant can be chosen by a name of its own and has a summary. */
static void test_variants(void **state)
{
    needs_study();
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        const struct gf_variant *variant;
        if (filter->point) /* others stand for filters that have theirs, or run on the CPU only */
            assert_non_null(gf_filter_variant_at(filter, 0));
        for (int v = 0; (variant = gf_filter_variant_at(filter, v)); v++) {
            struct gf_error refusal = {0};
            char text[200];
            assert_non_null(variant->summary);
            for (int k = 0; k < v; k++)
                assert_string_not_equal(variant->name, gf_filter_variant_at(filter, k)->name);
            const char *const needed = gf_filter_params(filter)->required ? "1:" : "";
            snprintf(text, sizeof text, "%s=%svariant=%s", filter->name, needed, variant->name);
            if (gf_chain_parse(text, &chain, &refusal))
                continue; /* a parameter without a default is missing: crop's */
            assert_ptr_equal(chain.item[0].variant, variant);
            gf_chain_free(&chain);
        }
    }
    struct gf_error error = {0};
    assert_int_equal(gf_chain_parse("blur=sigma=2:variant=naive", &chain, &error), GF_OK);
    assert_string_equal(chain.item[0].variant->name, "global");
    gf_chain_free(&chain);
    assert_int_equal(gf_chain_parse("hflip=variant=naive", &chain, &error), GF_ERROR_USAGE);
    assert_string_equal(error.text, "hflip: variant=naive is none of words");
    assert_int_equal(gf_chain_parse("blur=variant=quickest", &chain, &error), GF_ERROR_USAGE);
    assert_int_equal(strncmp(error.text, "blur: variant=quickest is none of best", 38), 0);
    assert_error("blur=variant=tiled:variant=tiled", "blur: variant is given twice");
    assert_error("blur=variant=tiled:2",
                 "blur: '2' comes after a named parameter, so it needs its name");
}

static void test_kernels(void **state)
{
    struct gf_error error = {0};
    parse("invert,thumbnail=10,blur");
    assert_int_equal(gf_chain_check_kernels(&chain, &error), GF_OK);
    struct gf_filter without = *chain.item[2].filter;
    without.name = "none"; /* blur's other variants are found by its name */
    without.cuda = without.cuda_floats = NULL;
    chain.item[2].filter = &without;
    assert_null(gf_filter_variant_at(&without, 0));
    assert_int_equal(gf_chain_check_kernels(&chain, &error), GF_ERROR_UNAVAILABLE);
    assert_string_equal(error.text, "none has no CUDA kernel and runs on the CPU only");
    gf_chain_free(&chain);
}

static void test_suggestions(void **state)
{
    assert_error("blurr", "unknown filter 'blurr'; did you mean 'blur'?");
    assert_error("qualize", "unknown filter 'qualize'; did you mean 'equalize'?");
    assert_error("tarnspose", "unknown filter 'tarnspose'; did you mean 'transpose'?");
    assert_error("sharp", "unknown filter 'sharp'; did you mean 'unsharp'?");
    assert_error("denoise",
                 "unknown filter 'denoise'; did you mean 'median' or 'bilateral' or 'nlmeans'?");
    assert_error("Auto-Gamma", "unknown filter 'Auto-Gamma'; did you mean 'normalize'?");
    assert_error("blur=sigmа=2", "blur: sigma=sigmа=2 is not a number"); /* a Cyrillic letter */
    assert_error("blur=sgima=2", "blur: unknown parameter 'sgima'; did you mean 'sigma'?");
    assert_error("blur=zoom=2",
                 "blur: unknown parameter 'zoom'; it has sigma, border, region, feather, variant");
    assert_error("resize=0.5", "resize: w=0.5 is not a whole number of pixels; a part is per cent, "
                               "as 50%; did you mean 'resize=50%'?");
    assert_error("blur=varient=tiled",
                 "blur: unknown parameter 'varient'; did you mean 'variant'?");
    assert_error("xyzzy", "unknown filter 'xyzzy' (gf_filter_at lists them)");
    assert_error("q", "unknown filter 'q' (gf_filter_at lists them)");
}

/* Names and forms of other programs: what they are here. */
static void test_other_names(void **state)
{
    static const char *const same[][2] = {
        {"sharpen=2", "unsharp=2"},
        {"Gray", "grayscale"},
        {"auto-level", "normalize"},
        {"gaussian_blur=0x3", "blur=3"},
        {"scale=400:-1", "resize=w=400"},
        {"scale=-2:300:flags=bicubic", "resize=h=300:kernel=cubic"},
        {"crop=10x8+2+1", "crop=10:8:2:1"},
        {"crop=50%x40%:north", "crop=50%:40%:gravity=north"},
        {"pad=90x80:colour=red", "pad=90:80:colour=red"},
        {"thumbnail=64x48", "thumbnail=64:48"},
        {"rotate=3:background=0xff8800", "rotate=3:colour=#ff8800"},
        {"trim=fuzz=10%", "trim=tolerance=0.1"},
        {"hue=h=90", "hue=90"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct gf_chain other;
        parse(same[i][1]);
        assert_int_equal(gf_chain_parse(same[i][0], &other, NULL), GF_OK);
        assert_ptr_equal(other.item->filter, chain.item->filter);
        assert_memory_equal(other.item->params, chain.item->params,
                            chain.item->filter->params_size);
        gf_chain_free(&other);
        gf_chain_free(&chain);
    }
}

static void test_foreign_forms(void **state)
{
    struct gf_error error = {0};
    const enum gf_status missing = gf_chain_parse("icc=+1=1", &chain, &error);
    assert_string_equal(error.text,
                        "icc: +1=1: No such file or directory; did you mean 'icc=1=1'?");
    assert_true(missing != GF_ERROR_USAGE && missing == error.status);
    assert_error("sepia-tone=80%",
                 "unknown filter 'sepia-tone' (ImageMagick); did you mean 'colormatrix=sepia'?");
    assert_error("blur,rot=d90", "unknown filter 'rot' (vips); did you mean 'blur,rotate=90'?");
    assert_error("flip=horizontal",
                 "vflip: one value too many: 'horizontal'; did you mean 'hflip'?");
    assert_error("crop=ih:ih", "crop: w=ih is not a length (pixels, or per cent as in 50%); did "
                               "you mean 'crop=aspect=1'?");
    assert_error(
        "threshold=128",
        "threshold: value=128 is outside 0..1, a part of the full scale: 128 of 255 is 128/255");
    assert_error("vignette=50", "vignette: strength=50 is outside 0..1; did you mean '50%'?");
    assert_error("tile=3x3", "tile: w=3x3: each number is a parameter of its own; did you mean "
                             "'tile=300%:300%'?");
    static const char *const meant[][3] = {
        {"resize=400x300", "resize=400:300:fit=inside", "; exactly this size is resize=400:300"},
        {"resize=400x300!", "resize=400:300"},
        {"resize=400x300^", "resize=400:300:fit=cover"},
        {"resize=400x300>", "resize=400:300:fit=inside:only=shrink"},
        {"resize=x300", "resize=h=300"},
        {"resize=400x", "resize=w=400"},
        {"border=20x20", "border=20", "; all sides get the same"},
        {"thumbnail=40x30^", "thumbnail=40:30:fit=cover"},
        {"thumbnail=40x30>", "thumbnail=40:30"},
        {"thumbnail=40x30!", "resize=40:30"},
        {"thumbnail=40x30<", "resize=40:30:fit=inside:only=enlarge"},
        {"thumbnail=40x", "resize=w=40"},
        {"thumbnail=x30", "resize=h=30"},
    };
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
        char text[200];
        const char *const value = strchr(meant[i][0], '=') + 1;
        const bool is_border = *meant[i][0] == 'b';
        snprintf(text, sizeof text,
                 "%.*s: %s=%s: each number is a parameter of its own%s; did you mean '%s'?",
                 (int)(value - 1 - meant[i][0]), meant[i][0], is_border ? "width" : "w", value,
                 meant[i][2] ? meant[i][2] : "", meant[i][1]);
        assert_error(meant[i][0], text);
        parse(meant[i][1]);
        gf_chain_free(&chain);
    }
    assert_error("resize=x", "resize: w=x is not a length (pixels, or per cent as in 50%)");
    assert_error("pad=40x30+5+6", "pad: w=40x30+5+6 is not a length (pixels, or per cent as in "
                                  "50%)");
    assert_error("crop=x30+5+6", "crop: w=x30+5+6 is not a length (pixels, or per cent as in 50%)");
    assert_error("border=x20", "border: width=x20 is not a length (pixels, or per cent as in 50%)");
    assert_error("crop=1x2x3x4x5", "crop: w=1x2x3x4x5: each number is a parameter of its own; did "
                                   "you mean 'crop=1:2:3:4:5'?");
    assert_error("duotone=0x12345g",
                 "duotone: dark=0x12345g is not a colour such as white or #ff8800");
}

/* Returns whether the text is a chain that filters a picture of 260x260 pixels, or one whose files
 * are missing. `runs`: only then it is run. */
static bool is_chain(const char *text, bool runs)
{
    struct gf_error error = {0};
    struct gf_pipeline *pipeline = NULL;
    struct gf_image image, result = {0};
    if (gf_chain_check(text, &error) || !runs)
        return !*error.text;
    enum gf_status status = gf_pipeline_open(text, NULL, &pipeline, &error);
    if (status)
        return strstr(error.text, "No such file") || strstr(error.text, "FreeType");
    const struct gf_format format = {.width = 260, .height = 260, .channels = 3, .bits = 8};
    assert_int_equal(gf_image_alloc(&image, format, &error), GF_OK);
    memset(image.data, 77, image.pitch * 260);
    status = gf_pipeline_run_image(pipeline, &image, &result, &error);
    gf_image_free(&result);
    gf_image_free(&image);
    gf_pipeline_close(pipeline);
    return !status;
}

/* Every row has an answer without a value, and one with numbers of any size; every chain that is
 * proposed is one, and those without a value run. No other row has the same word, and none has a
 * filter's name. */
static void test_foreign_meanings(void **state)
{
    static const char *const values[] = {"",          "=0",       "=5",        "=99999",
                                         "=-3:0.001", "=3:7:1.5", "=120x45+2", "=a=b:c"};
    const struct gf_foreign_row *row, *other;
    struct gf_foreign_answer answer;
    static char ran[20000]; /* the chains that have run */
    int count = 0;
    for (int i = 0; (row = gf_foreign_at(i)); i++) {
        char words[1200];
        snprintf(words, sizeof words, "%s", row->words);
        assert_true(row->meaning || row->note);
        for (char *rest = words, *word; (word = strsep(&rest, " "));) {
            if (*word == '!' || strpbrk(word, "*[?"))
                continue;
            count++;
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                char item[200];
                snprintf(item, sizeof item, "%s%s", word, strchr(word, '=') ? "" : values[v]);
                if (!gf_chain_answer(row->kind, item, &answer))
                    fail_msg("%s: no answer", item);
                if (*answer.meaning && strncmp(answer.meaning, "--", 2) &&
                    !is_chain(answer.meaning, !v && !strstr(ran, answer.meaning)))
                    fail_msg("%s: '%s' is no chain", item, answer.meaning);
                if (!*answer.meaning && !*answer.note)
                    fail_msg("%s: nothing is answered", item);
                snprintf(ran + strlen(ran), sizeof ran - strlen(ran), "%s\n",
                         v ? "" : answer.meaning);
                if (strpbrk(answer.meaning, "{}") || strstr(answer.meaning, "nan"))
                    fail_msg("%s: '%s'", item, answer.meaning);
            }
            if (row->kind != GF_FOREIGN_FILTER || strchr(word, '='))
                continue;
            if (gf_filter_find(word))
                fail_msg("%s is a filter's name", word);
            for (int k = 0; (other = gf_foreign_at(k)); k++) {
                if (k != i && other->kind == row->kind && !strchr(other->words, '=') &&
                    gf_suggest_listed(other->words, word))
                    fail_msg("%s stands in two rows", word);
            }
        }
    }
    assert_true(count > 500);
}

/* ---- nonsense ---- */

static void try_text(const char *text)
{
    struct gf_error error = {0};
    const enum gf_status status = gf_chain_parse(text, &chain, &error);
    assert_true(status == GF_OK || status == GF_ERROR_USAGE);
    assert_true(!status || error.text[0]);
    assert_null(strchr(error.text, '\n'));
    if (!status)
        gf_chain_free(&chain);
}

/* Scraps of chains at random, and chains with a few bytes changed. */
static void test_fuzz(void **state)
{
    static const char *const scraps[] = {
        "blur",   "crop", "convolve", "threshold", "unsharp", "resize",   "=",    ":", ",", "'",
        "\"",     "\\",   " ",        "1",         "-",       ".5",       "%",    "/", "|", "sigma",
        "kernel", "w=",   "otsu",     "1 2 3",     "e9",      "\x80\xff", "wrap", "\n"};
    uint64_t seed = 1;
    for (int i = 0; i < unless_small(60000, 6000); i++) {
        char text[300] = "";
        const int parts = random_below(&seed, 14);
        for (int p = 0; p < parts; p++)
            strcat(text, scraps[random_below(&seed, sizeof scraps / sizeof *scraps)]);
        try_text(text);
    }
    for (int i = 0; i < unless_small(30000, 3000); i++) {
        char text[] =
            "blur=2:wrap,convolve='1 2 3/4 5 6/7 8 9':bias=3,crop=w=50%:h=20,threshold=otsu";
        for (int change = 0; change < 3; change++)
            text[random_below(&seed, sizeof text - 1)] = (char)(1 + random_below(&seed, 255));
        try_text(text);
    }
}

/* Values and names of any length. */
static void test_long_texts(void **state)
{
    static const char *const heads[] = {
        "", "blur=", "blur=sigma=", "blur=border=", "convolve=", "crop=", "'"};
    char *const text = malloc(100100);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        for (size_t length = 30; length < 100000; length = length * 3 + 1) {
            const size_t head = (size_t)sprintf(text, "%s", heads[i]);
            memset(text + head, i % 2 ? 'x' : '7', length);
            text[head + length] = '\0';
            try_text(text);
        }
    }
    memset(text, ',', 100000);
    text[100000] = '\0';
    try_text(text);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_every_name),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_other_words),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_largest_matrix),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_suggestions),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_foreign_forms),
        cmocka_unit_test(test_foreign_meanings),
        cmocka_unit_test(test_fuzz),
        cmocka_unit_test(test_long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
