/* A list of texts. */
#ifndef QS_CONFIG_STRINGS_H
#define QS_CONFIG_STRINGS_H

#include <stddef.h>

struct qs_strings {
    char **at; /* owned strings */
    size_t count;
};

void qs_strings_done(struct qs_strings *s);

#endif
