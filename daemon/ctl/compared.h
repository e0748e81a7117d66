/* What `quiesce compare` shows of a comparison document, whichever it is. */
#ifndef QS_CTL_COMPARED_H
#define QS_CTL_COMPARED_H

#include <jansson.h>

#include "ctl/commands/command.h"

extern const char *const qs_fail_on_words[]; /* of --fail-on, in the order of enum qs_fail_on */
/* The exit code that --fail-on gives to a document: QS_EXIT_REGRESSION, or QS_EXIT_OK. */
int qs_compared_code(const struct qs_ctl *ctl, const json_t *doc);
/* The document in the form that was asked for: --json, --markdown, --junit, else for people. The exit code: a
 * regression, QS_EXIT_PRECONDITION where two sides were refused or have nothing in common. */
int qs_compared_show(struct qs_ctl *ctl, const struct qs_buf *text);
/* Whether a word says runs of the store (12, 12:a, build:x, night:2026-11-20, lists of them). */
bool qs_compared_is_side(const char *word);
/* Asks the daemon for two sides and shows the answer. */
int qs_compared_sides(struct qs_ctl *ctl, const char *base, const char *candidate);

#endif
