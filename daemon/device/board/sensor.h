/* A sensor of a board: a file, or a command. */
#ifndef QS_DEVICE_BOARD_SENSOR_H
#define QS_DEVICE_BOARD_SENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/profile/words.h"

enum qs_board_sensor_status {
    QS_SENSOR_OK,
    QS_SENSOR_NOT_TEMPERATURE, /* its type says so */
    QS_SENSOR_PLACEHOLDER,     /* -99.9 */
    QS_SENSOR_ZERO,            /* exactly 0 */
    QS_SENSOR_UNREADABLE,
    QS_SENSOR_NO_NUMBER,
    QS_SENSOR_IMPLAUSIBLE,
    QS_SENSOR_SPOILT /* a command, whose values somebody has overridden */
};

struct qs_board_sensor {
    char *name; /* "thermal:TYPE"; of several the second is "thermal:TYPE.2": unique, 1 .. 64 bytes */
    char *type, *path;
    enum qs_sensor_role role;
    enum qs_reading_unit unit; /* MC, DC, C, COUNT, or of energy */
    int64_t mul, div; /* its value = what the file says * mul / div, in thousandths of a degree; in uJ, uWh,
                         uAh or uW */
    int64_t lo, hi;   /* plausible, both included */
    bool bits;        /* its file has a hexadecimal number: value = what it has of mul's bits / div */
    enum qs_watch watch;
    char *command; /* NULL: a file; else it is this, as BIND has it, and `path` is for people */
    char *mend;    /* of a command: what people run where its values are made up; or NULL */
    /* Of energy: the file where it begins at 0 again, of a charge that of its voltage (uV), and that of words
     * with what is valid of them, as BIND has it; or NULL. */
    char *wraps_file, *volts_file, *status_words;
    size_t average_ms; /* of a power: over which it is a mean; 0: not known */
    char *said;        /* of bits: which of them it had, in words; or NULL */
    int64_t value;     /* when surveyed; 0 unless a number was read */
    enum qs_board_sensor_status status;
    char *why; /* in words; NULL: it is OK */
};

/* A temperature; energy; or, of QS_READS_COUNT, neither. */
static inline bool qs_reads_degrees(enum qs_reading_unit unit)
{
    return unit < QS_READS_COUNT;
}

static inline bool qs_reads_energy(enum qs_reading_unit unit)
{
    return unit > QS_READS_COUNT;
}

#endif
