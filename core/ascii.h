/* Letters and words of configuration texts: ASCII only, whatever the program's locale is. */
#ifndef GANTRY_CORE_ASCII_H
#define GANTRY_CORE_ASCII_H

#include <stdbool.h>
#include <stddef.h>

bool ascii_blank(char c); /* space or tab */
bool ascii_digit(char c);
bool ascii_word(char c); /* letter, digit, '_' or '-' */

char ascii_lower(char c);
void ascii_lower_all(char *text);

/* Comparisons in which case does not matter. */
bool ascii_same(const char *a, const char *b);
bool ascii_starts(const char *text, const char *prefix);

/* Cuts blanks off the end, in place, and returns the first character that is none. */
char *ascii_trim(char *text);

/* How unlike the known word a given word is: 0 for the same, growing with each letter to be
 * changed. The beginning of a known word is nearly that word, so that "blok" is nearest to
 * "block_size". */
unsigned ascii_unlike(const char *given, const char *known);

/* Whether a word that is so unlike is still worth proposing instead of the given one. */
bool ascii_near(const char *given, unsigned unlike);

#endif
