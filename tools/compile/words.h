/* Words that mean something in one of the languages but not in the kernel language. */
#ifndef GANTRY_COMPILE_WORDS_H
#define GANTRY_COMPILE_WORDS_H

#include <stdbool.h>

/* A keyword of C11 or C++17: no name for a struct's member. */
bool word_is_keyword(const char *word);

/* What to write instead of a word that only some of the compilers know; NULL for other words. */
const char *word_advice(const char *word);

#endif
