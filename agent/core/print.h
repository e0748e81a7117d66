/* snprintf and vsnprintf as far as the agent needs them: %s %c %d %u %x %%, with `-`, `0`, a width, a
 * precision (of %s, may be `*`), and the lengths l, ll and z. The library's would bring floating-point
 * numbers along, which are a tenth of the program where a long double has 128 bits. */
#ifndef QS_AGENT_CORE_PRINT_H
#define QS_AGENT_CORE_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/* Writes at most cap bytes with their end, cut where there is no room; how many bytes it would be without the
 * end. Nothing is written where cap is 0. */
int qs_print(char *to, size_t cap, const char *form, ...) __attribute__((format(printf, 3, 4)));
int qs_vprint(char *to, size_t cap, const char *form, va_list args) __attribute__((format(printf, 3, 0)));

#endif
