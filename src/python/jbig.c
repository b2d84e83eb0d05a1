/* Stands in a wheel for JBIG-KIT, whose license is not the wheel's: the functions that libtiff
 * calls. The program decodes no JBIG, since libtiff cannot do it row by row. The arguments do not
 * matter. */
enum { NOT_IMPLEMENTED = 7 << 4 }; /* JBIG-KIT's error "not implemented", JBG_EIMPL */

int jbg_dec_in(void)
{
    return NOT_IMPLEMENTED;
}

const char *jbg_strerror(void)
{
    return "a wheel has no JBIG";
}

#define NOTHING(name) \
    void name(void) \
    { \
    }
NOTHING(jbg_newlen)
NOTHING(jbg_dec_init)
NOTHING(jbg_dec_getimage)
NOTHING(jbg_dec_getsize)
NOTHING(jbg_dec_free)
NOTHING(jbg_enc_init)
NOTHING(jbg_enc_out)
NOTHING(jbg_enc_free)
