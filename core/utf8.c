/* Whether bytes are UTF-8, and making them so. */
#include "utf8.h"

/* Characters of each length: which first bytes begin one, and what its second byte may be; further
 * bytes are 0x80 to 0xbf. Table 3-7 of the Unicode Standard. */
static const struct form {
    unsigned char first, last; /* range of the first byte */
    unsigned char low, high;   /* range of the second byte */
    size_t length;
} forms[] = {
    {0x01, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static bool has_form(const unsigned char *bytes, const struct form *form)
{
    if (bytes[0] < form->first || bytes[0] > form->last)
        return false;
    if (form->length > 1 && (bytes[1] < form->low || bytes[1] > form->high))
        return false;
    for (size_t i = 2; i < form->length; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xbf)
            return false;
    }
    return true;
}

/* Bytes of the character at the front of a text that is not empty; 0 when there is none. */
static size_t character_length(const char *text)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (has_form((const unsigned char *)text, &forms[i]))
            return forms[i].length;
    }
    return 0;
}

bool utf8_valid(const char *text)
{
    while (*text) {
        size_t length = character_length(text);

        if (length == 0)
            return false;
        text += length;
    }
    return true;
}

void utf8_mend(char *text)
{
    while (*text) {
        size_t length = character_length(text);

        if (length == 0 || (unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
        text += length ? length : 1;
    }
}
