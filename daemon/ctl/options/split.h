/* A command line into words, as a POSIX shell would read its quotes and backslashes, without a shell: what
 * only a shell can do is an error with its place, never something else done silently. */
#ifndef QS_CTL_OPTIONS_SPLIT_H
#define QS_CTL_OPTIONS_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

struct qs_words {
    char **at; /* owned, ends with NULL */
    size_t count;
};

struct qs_split_why {
    size_t offset; /* of the offending byte */
    char what[200];
    bool shell;   /* a shell could do it */
    bool assigns; /* it is NAME=value before a command */
};

/* XCU 2.2 and 2.3 without expansions. False with the first offence; *ret is empty then. */
bool qs_split(const char *line, struct qs_words *ret, struct qs_split_why *why);
void qs_words_done(struct qs_words *words);
void qs_words_add(struct qs_words *words, const char *word, size_t n);

#endif
