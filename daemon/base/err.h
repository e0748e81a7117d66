/* Errors with blame. A function that can fail for a reason that a person should read returns bool and
 * fills a struct qs_err; libraries never log, the top of the program does, once. */
#ifndef QS_BASE_ERR_H
#define QS_BASE_ERR_H

#include <stdbool.h>

enum qs_errc {
    QS_E_NONE,
#define QS_ERR(sym, slug, blame, advice) QS_E_##sym,
#include "base/err.def"
#undef QS_ERR
    QS_E_COUNT
};

/* Whose move is next. The scheduler retries elsewhere for DEVICE, waits for HOST, stops for OPERATOR. */
enum qs_blame { QS_BLAME_NONE, QS_BLAME_OPERATOR, QS_BLAME_DEVICE, QS_BLAME_HOST, QS_BLAME_QUIESCE };

enum { QS_ERR_TEXT_BYTES = 504 };

struct qs_err {
    enum qs_errc code;
    char text[QS_ERR_TEXT_BYTES]; /* UTF-8, NUL-terminated, cut on a character boundary */
};

#define QS_ERR_INIT ((struct qs_err){.code = QS_E_NONE})

/* Sets *err (NULL is allowed: the reason is dropped) and returns false, so that callers write
 * `return qs_fail(err, QS_E_LINK, "...")`. */
bool qs_fail(struct qs_err *err, enum qs_errc code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "fmt...: " before the text of an error that is passed up; returns false. */
bool qs_fail_prefix(struct qs_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Static strings; never NULL. The slug of QS_E_NONE is "ok". An unknown code reads as "internal". */
const char *qs_errc_slug(enum qs_errc code);
const char *qs_errc_advice(enum qs_errc code);
enum qs_blame qs_errc_blame(enum qs_errc code);
const char *qs_blame_name(enum qs_blame blame);
/* The code of a slug; QS_E_INTERNAL where no row has it. */
enum qs_errc qs_errc_from_slug(const char *slug);

#endif
