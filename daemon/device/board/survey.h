/* What a device's files said: rows of SURVEYED, collected page by page and pattern by pattern. */
#ifndef QS_DEVICE_BOARD_SURVEY_H
#define QS_DEVICE_BOARD_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scope.h"
#include "proto/limits.h"
#include "proto/msg_control.h"
#include "proto/msg_window.h"

enum {
    QS_BOARD_READABLE = QS_FILE_READABLE, /* bits of access */
    QS_BOARD_WRITABLE = QS_FILE_WRITABLE,
    QS_BOARD_PATH_MAX = QS_CONTROL_PATH_MAX_BYTES,
    QS_BOARD_VALUE_MAX = QS_FOUND_MAX_BYTES, /* a value of this length was cut */
    QS_BOARD_ROWS_MAX = 16384
};

struct qs_survey_row {
    char *path; /* owned, as is value */
    char *value;
    size_t value_bytes;
    unsigned access;
    enum qs_reading_status status;
    int32_t error; /* errno of the read; 0 */
};
struct qs_survey {
    struct qs_survey_row *rows;
    size_t count;
    size_t refused; /* rows whose path is none, or that were too many */
};

/* Copies. The same path again is ignored by who reads the survey: the first counts. */
void qs_survey_add(struct qs_survey *survey, const char *path, unsigned access, enum qs_reading_status status,
                   int32_t error, const void *value, size_t value_bytes);
void qs_survey_done(struct qs_survey *survey);

/* One more pattern to ask for, unless one of them is that or covers it. */
struct qs_strings;
void qs_survey_ask(struct qs_strings *patterns, const char *pattern);
/* The first file that fits it, and the first other one; NULL: there is none. Missing ones do not count. */
void qs_survey_match(const struct qs_survey *survey, const char *pattern,
                     const struct qs_survey_row **ret_first, const struct qs_survey_row **ret_other);
/* The whole number that a file says; its first one, of which a fraction is cut. */
bool qs_survey_number(const struct qs_survey_row *row, int64_t *ret);
bool qs_survey_decimal(const struct qs_survey_row *row, int64_t *ret);

#endif
