/* A survey that may say anything: lines of `path TAB access TAB error TAB value`, where a value ends at a
 * byte 1. A board comes of it whatever it holds, is read back from its JSON as it is, and each wish is held
 * within its operating points or refused with a reason. */
#include <string.h>

#include "device/board/pin.h"
#include "fuzz.h"

enum { COLUMNS = 4, WISHES = 6 };

/* The next column, to the byte that ends it or to the end of all. */
static const char *column(const char **at, const char *end, char until, size_t *ret_bytes)
{
    const char *from = *at, *stop = memchr(from, until, (size_t)(end - from));
    *ret_bytes = (size_t)((stop != NULL ? stop : end) - from);
    *at = stop != NULL ? stop + 1 : end;
    return from;
}

static void read_survey(const char *at, const char *end, struct qs_survey *survey)
{
    while (at < end) {
        size_t n[COLUMNS];
        const char *columns[COLUMNS];
        char path[QS_BOARD_PATH_MAX + 2];
        for (size_t i = 0; i < COLUMNS; i++)
            columns[i] = column(&at, end, i + 1 < COLUMNS ? '\t' : 1, &n[i]);
        size_t bytes = n[0] < sizeof path - 1 ? n[0] : sizeof path - 1;
        memcpy(path, columns[0], bytes);
        path[bytes] = '\0';
        int32_t error = n[2] > 0 ? columns[2][0] - '0' : 0;
        qs_survey_add(survey, path, n[1] > 0 ? (unsigned)columns[1][0] & 3 : 0,
                      error == 0 ? QS_READING_OK : QS_READING_UNREADABLE, error, columns[3], n[3]);
    }
}

static void hold(const struct qs_board *board, struct qs_wish wish)
{
    for (unsigned kind = 0; kind < QS_DOMAIN_KINDS; kind++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_wishes wishes = {0};
        QS_SCOPED(qs_pins_done) struct qs_pins pins = {0};
        wishes.frequency[kind] = wish;
        if (!qs_board_pin(board, &wishes, true, &pins, &err)) {
            fuzz_require(err.text[0] != '\0' && pins.items.count == 0);
            continue;
        }
        fuzz_require(pins.choices.count > 0);
        for (size_t i = 0; i < pins.choices.count; i++) {
            const struct qs_board_domain *d = pins.choices.at[i].domain;
            fuzz_require(d->kind == kind && pins.choices.at[i].khz >= d->hw_min_khz &&
                         pins.choices.at[i].khz <= d->hw_max_khz);
        }
        for (size_t i = 0; i < pins.items.count; i++)
            fuzz_require(strlen(pins.items.at[i].value) <= QS_TUNE_VALUE_MAX_BYTES);
    }
}

static void check(const struct qs_board *board)
{
    for (size_t i = 0; i < board->domains.count; i++) {
        const struct qs_board_domain *d = &board->domains.at[i];
        fuzz_require(qs_board_domain(board, d->name) == d && d->steps_khz.count == d->steps_raw.count);
        for (size_t k = 1; k < d->steps_khz.count; k++)
            fuzz_require(d->steps_khz.at[k] >= d->steps_khz.at[k - 1]);
    }
    for (size_t i = 0; i < board->sensors.count; i++) {
        const struct qs_board_sensor *s = &board->sensors.at[i];
        size_t n = strlen(s->name);
        fuzz_require(qs_board_sensor(board, s->name) == s && n >= 1 && n <= QS_NAME_MAX_BYTES &&
                     s->lo <= s->hi);
        fuzz_require(s->mul >= 1 && s->div >= 1 && (s->why == NULL) == (s->status == QS_SENSOR_OK));
        fuzz_require(s->status != QS_SENSOR_OK || (s->value >= s->lo && s->value <= s->hi));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct qs_wish wishes[WISHES] = {{QS_WISH_MAX, 0, 0},
                                                  {QS_WISH_MIN, 0, 0},
                                                  {QS_WISH_SHARE, 1, 0},
                                                  {QS_WISH_SHARE, 500000, 0},
                                                  {QS_WISH_FREQUENCY, 300000, 0},
                                                  {QS_WISH_PLACE, 2, 3}};
    static struct qs_profiles profiles; /* read once: they are not what is fuzzed */
    QS_SCOPED(qs_survey_done) struct qs_survey survey = {0};
    struct qs_err err = QS_ERR_INIT;
    fuzz_require(profiles.count > 0 || qs_profiles_init(&profiles, &err));
    read_survey((const char *)data, (const char *)data + size, &survey);
    QS_SCOPED(qs_board_free_at) struct qs_board *board = qs_board_new(&profiles, &survey, NULL);
    QS_BUF(json);
    QS_BUF(again);
    check(board);
    qs_board_json(board, &json);
    QS_SCOPED(qs_board_free_at) struct qs_board *read = qs_board_from_json(json.data, &err);
    fuzz_require(read != NULL);
    qs_board_json(read, &again);
    fuzz_require(strcmp(json.data, again.data) == 0);
    for (size_t i = 0; i < WISHES; i++)
        hold(read, wishes[i]);
    return 0;
}
