/* Words that other programs use for what an option or a value is called here. */
#ifndef GF_CLI_HELP_SYNONYMS_H
#define GF_CLI_HELP_SYNONYMS_H

/* The option's or the value's name that is meant by the word; NULL if there is none. */
const char *gf_option_synonym(const char *word);
const char *gf_value_synonym(const char *word);

#endif
