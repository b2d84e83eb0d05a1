/* Words by which other programs name an option or a value. */
#ifndef GF_CLI_HELP_SYNONYMS_H
#define GF_CLI_HELP_SYNONYMS_H

/* Returns the name of the option or the value that the word means; NULL if there is none. */
const char *gf_option_synonym(const char *word);
const char *gf_value_synonym(const char *word);
/* Returns what to do in place of an option of other programs that is no option here; or NULL. */
const char *gf_option_note(const char *word);

#endif
