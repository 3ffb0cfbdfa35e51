/* Letters and words of configuration texts. */
#include "ascii.h"

#include <string.h>

bool ascii_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool ascii_word(char c)
{
    char lower = ascii_lower(c);

    return (lower >= 'a' && lower <= 'z') || ascii_digit(c) || c == '_' || c == '-';
}

char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

void ascii_lower_all(char *text)
{
    for (; *text; text++)
        *text = ascii_lower(*text);
}

bool ascii_same(const char *a, const char *b)
{
    while (*a && ascii_lower(*a) == ascii_lower(*b)) {
        a++;
        b++;
    }
    return ascii_lower(*a) == ascii_lower(*b);
}

bool ascii_starts(const char *text, const char *prefix)
{
    while (*prefix && ascii_lower(*text) == ascii_lower(*prefix)) {
        text++;
        prefix++;
    }
    return *prefix == '\0';
}

char *ascii_trim(char *text)
{
    size_t length;

    while (ascii_blank(*text))
        text++;
    length = strlen(text);
    while (length > 0 && ascii_blank(text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

/* Longer words are no misspelt keys. */
enum { WORD_MAX = 40 };

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Levenshtein's distance, a row at a time, taken to the best beginning of the known word. */
unsigned ascii_unlike(const char *given, const char *known)
{
    size_t columns = strlen(known);
    unsigned row[WORD_MAX + 1];
    unsigned best;

    if (strlen(given) > WORD_MAX || columns > WORD_MAX)
        return 2 * WORD_MAX;
    for (unsigned j = 0; j <= columns; j++)
        row[j] = j;
    for (unsigned i = 0; given[i]; i++) {
        unsigned diagonal = row[0];

        row[0] = i + 1;
        for (unsigned j = 1; j <= columns; j++) {
            bool same = ascii_lower(given[i]) == ascii_lower(known[j - 1]);
            unsigned replaced = diagonal + (same ? 0 : 1);

            diagonal = row[j];
            row[j] = least(replaced, row[j] + 1, row[j - 1] + 1);
        }
    }
    best = 2 * row[columns];
    for (size_t j = 1; j < columns; j++)
        best = 2 * row[j] + 1 < best ? 2 * row[j] + 1 : best;
    return best;
}

bool ascii_near(const char *given, unsigned unlike)
{
    return unlike <= 2 * (strlen(given) / 3 + 1);
}
