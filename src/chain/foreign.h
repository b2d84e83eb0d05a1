/* What ImageMagick, libvips, sharp and FFmpeg call by words that no filter has. */
#ifndef GF_CHAIN_FOREIGN_H
#define GF_CHAIN_FOREIGN_H

/* Returns a chain that does what other programs do for the first item of the chain, such as
 * "rotate=90" for "transpose=clock"; NULL if there is none. It is an example, in which the values
 * of the item do not stand. */
const char *gf_foreign_meaning(const char *chain);
/* Returns the index-th chain of the table, for tests; NULL after the last one. */
const char *gf_foreign_meaning_at(int index);

#endif
