/* A list of texts. */
#ifndef QS_CONFIG_DOCUMENT_STRING_LIST_H
#define QS_CONFIG_DOCUMENT_STRING_LIST_H

#include <stddef.h>

struct qs_strings {
    char **at; /* owned strings */
    size_t count;
};

void qs_strings_add(struct qs_strings *s, char *owned); /* takes it */
void qs_strings_done(struct qs_strings *s);

#endif
