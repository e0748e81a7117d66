/* Small text helpers shared by every layer. */
#ifndef QS_BASE_TEXT_H
#define QS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Hex of n bytes, lower case; out has room for 2 * n + 1. */
void qs_hex(const uint8_t *bytes, size_t n, char *out);
/* Exactly n bytes from 2 * n hex digits; false where s is anything else. */
bool qs_unhex(const char *s, uint8_t *out, size_t n);
/* The length of the character at the front of s (n >= 1 bytes), or, with *valid false, of the bytes there
 * that are no part of one: the longest start of a character that is then broken, else one byte (Unicode
 * 15, 3.9). */
size_t qs_utf8_next(const char *s, size_t n, bool *valid);
/* The candidate nearest to `word` by edit distance (transpositions count one), or NULL where none is near
 * enough to be a typing slip (distance <= 1 + length/4, at most 3, and something left of the word; neither
 * over 64 bytes). count candidates, none NULL. */
const char *qs_nearest(const char *word, const char *const *candidates, size_t count);
/* Appends s so that a terminal shows it and does nothing else: control characters, marks that turn the
 * direction of text, and bytes that are not UTF-8 become \xNN. */
void qs_text_escape(struct qs_buf *out, const char *s, size_t n);
/* Appends the first line of s that is not blank, escaped like that. */
void qs_text_first_line(struct qs_buf *out, const char *s, size_t n);
/* Would qs_text_escape leave it as it is? */
bool qs_text_is_shown(const char *s);
/* Is it, from the first byte to the last, of ASCII letters, digits and the signs in `signs`? Not where it is
 * empty. */
bool qs_text_is_word(const char *s, const char *signs);
/* Duration for people: "850 ns", "12.3 µs", "1.20 ms", "3.45 s", "2 min 5 s", "1 h 2 min", "3 d 4 h"; NaN is
 * "?". */
void qs_text_duration(struct qs_buf *out, double ns);
/* RFC 3339 in UTC with milliseconds from ns since the epoch; out has room for 32. */
void qs_text_time(int64_t wall_ns, char out[32]);
void qs_text_second(int64_t wall_ns, char out[32]); /* in whole seconds */

#endif
