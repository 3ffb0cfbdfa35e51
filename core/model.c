/* Names of GPU models.
 *
 * One GPU has many names: "NVIDIA GeForce RTX 4060", "GeForce RTX 4060", "NVIDIA GeForce RTX 4060
 * (NVK AD107)"; "AMD Radeon(TM) 8060S Graphics (RADV GFX1151)", "AMD Radeon 8060S". So names and
 * patterns are normalised before they are compared. */
#include "model.h"

#include <string.h>

#include "ascii.h"

/* Words that drivers put in front of a model, or leave out. GeForce is one because its models are
 * unmistakable without it; Radeon, Quadro, Tesla and Arc are not, because others share their
 * numbers. */
static const char *const vendor_words[] = {"nvidia", "geforce",   "amd",         "ati",
                                           "intel",  "apple",     "arm",         "qualcomm",
                                           "mesa",   "microsoft", "corporation", "imagination"};

/* Marks that stand for nothing. */
static const char *const marks[] = {"(r)", "(tm)", "(c)", "®", "™"};

static size_t mark_length(const char *text)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (ascii_starts(text, marks[i]))
            return strlen(marks[i]);
    }
    return 0;
}

/* Where the parenthesis opens that ends the text; NULL when none does, or it is all there is. */
static char *last_parenthesis(char *text)
{
    size_t i = strlen(text);
    int depth = 0;

    if (i == 0 || text[i - 1] != ')')
        return NULL;
    while (i-- > 1) {
        depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
        if (depth == 0)
            return text + i;
    }
    return NULL;
}

/* Whether there was one. */
static bool drop_driver(char *text)
{
    char *driver = last_parenthesis(text);

    if (!driver)
        return false;
    *driver = '\0';
    ascii_trim(text);
    return true;
}

static bool drop_last_word(char *text, const char *word)
{
    size_t length = strlen(text), size = strlen(word);

    if (length <= size + 1 || text[length - size - 1] != ' ' ||
        strcmp(text + length - size, word) != 0)
        return false;
    text[length - size - 1] = '\0';
    return true;
}

bool model_normalise(const char *name, char *text, size_t size)
{
    size_t length = 0;

    while (*name) {
        size_t skipped = mark_length(name);
        bool blank = skipped || ascii_blank(*name);

        if (length + 1 >= size)
            return false;
        if (!blank)
            text[length++] = ascii_lower(*name);
        else if (length > 0 && text[length - 1] != ' ')
            text[length++] = ' ';
        name += skipped ? skipped : 1;
    }
    text[length] = '\0';
    ascii_trim(text);
    /* Until nothing is left to drop, so that a section with the normalised name in it matches. */
    while (drop_driver(text) || drop_last_word(text, "graphics"))
        ;
    return text[0] != '\0';
}

const char *model_behind_vendor(const char *text)
{
    for (size_t i = 0; i < sizeof(vendor_words) / sizeof(vendor_words[0]); i++) {
        size_t length = strlen(vendor_words[i]);

        if (strncmp(text, vendor_words[i], length) == 0 && text[length] == ' ')
            return text + length + 1;
    }
    return NULL;
}

bool model_wildcard(char c)
{
    return c == '*' || c == '?';
}

const char *model_without_vendor(const char *text)
{
    const char *rest;

    while ((rest = model_behind_vendor(text)) && !model_wildcard(*rest))
        text = rest;
    return text;
}

/* On a mismatch the last '*' takes one character more. */
bool model_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *retry = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
