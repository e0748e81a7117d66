/* Sensors: what each is called, what it counts in, and whether its value is credible; and switches. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/board/impl.h"

#define ENERGY_MOST INT64_C(1000000000000) /* so that its value can be multiplied */

enum { LOW_MC = -30000, HIGH_MC = 130000, PLACEHOLDER_MC = -99900, DEGREES_TO = 150, TENTHS_TO = 1500 };

/* What the rows of types say of one type, the first that says something of a matter. */
struct known {
    enum qs_reading_unit unit;
    enum qs_sensor_role role;
    struct qs_profile_range range;
    enum qs_watch watch;
    const char *reject;
};

static bool fits(const struct qs_profile_type *row, const char *type)
{
    for (size_t i = 0; i < row->types.count; i++)
        if (qs_glob_type(row->types.at[i], type))
            return true;
    return false;
}

static struct known look_up(const struct qs_work *w, const char *type)
{
    struct known k = {0};
    for (size_t l = 0; l < w->layer_count; l++)
        for (size_t i = 0; i < w->layers[l]->type_count; i++) {
            const struct qs_profile_type *row = &w->layers[l]->types[i];
            if (!fits(row, type))
                continue;
            k.unit = k.unit == QS_READS_UNSET ? row->unit : k.unit;
            k.role = k.role == QS_ROLE_UNSET ? row->role : k.role;
            k.range = k.range.given ? k.range : row->range;
            k.watch = k.watch == QS_WATCH_UNSET ? row->watch : k.watch;
            k.reject = k.reject == NULL ? row->reject : k.reject;
        }
    return k;
}

static enum qs_reading_unit guess_unit(int64_t raw)
{
    int64_t size = raw < 0 ? -raw : raw;
    return size <= DEGREES_TO ? QS_READS_C : size <= TENTHS_TO ? QS_READS_DC : QS_READS_MC;
}

static void set_unit(struct qs_board_sensor *s, enum qs_reading_unit unit, bool has_raw, int64_t raw)
{
    static const int64_t factors[QS_READS_UNITS] = {
        [QS_READS_MC] = 1,    [QS_READS_DC] = 100,   [QS_READS_C] = 1000, [QS_READS_COUNT] = 1,
        [QS_READS_UJ] = 1,    [QS_READS_UWH] = 1,    [QS_READS_UAH] = 1,  [QS_READS_UW] = 1,
        [QS_READS_MW] = 1000, [QS_READS_W] = 1000000};
    if (unit == QS_READS_UNSET || unit == QS_READS_AUTO)
        unit = has_raw ? guess_unit(raw) : QS_READS_MC;
    s->unit = unit;
    s->mul = factors[unit];
    s->div = 1;
}

/* "50005", or with 0x. */
static bool read_bits(const char *text, int64_t *ret)
{
    char *end = NULL;
    errno = 0;
    *ret = text != NULL && isxdigit((unsigned char)text[0]) ? strtoll(text, &end, 16) : 0;
    return end != NULL && *end == '\0' && errno == 0;
}

/* "0.4525": a number, perhaps with a fraction, which is cut. */
static bool read_whole_of(const char *text, int64_t *ret)
{
    char *end = NULL;
    errno = 0;
    long long v =
        text != NULL && (isdigit((unsigned char)text[0]) || text[0] == '-') ? strtoll(text, &end, 10) : 0;
    if (end != NULL && *end == '.')
        end += 1 + strspn(end + 1, "0123456789");
    *ret = v;
    return end != NULL && *end == '\0' && errno == 0 && v >= -ENERGY_MOST && v <= ENERGY_MOST;
}

static char *bits_in_words(const struct qs_strings *words, int64_t bits)
{
    QS_BUF(text);
    for (size_t i = 0; i < words->count && i < 32; i++)
        if ((bits >> i & 1) != 0)
            qs_buf_fmt(&text, "%s%s", text.len > 0 ? ", " : "", words->at[i]);
    return text.len > 0 ? qs_buf_take(&text) : NULL;
}

static void refuse(struct qs_board_sensor *s, enum qs_board_sensor_status status, char *why)
{
    s->status = status;
    s->why = why;
}

static void judge_number(struct qs_board_sensor *s, int64_t raw)
{
    double degrees = (double)s->value / 1000;
    if (!qs_reads_degrees(s->unit))
        return;
    if (raw == 0)
        refuse(s, QS_SENSOR_ZERO, qs_strdup("it reads exactly 0: no sensor is connected"));
    else if (s->value == PLACEHOLDER_MC)
        refuse(s, QS_SENSOR_PLACEHOLDER, qs_strdup("it reads -99.9, which means that there is no reading"));
    else if (s->value < s->lo || s->value > s->hi)
        refuse(s, QS_SENSOR_IMPLAUSIBLE,
               qs_asprintf("`%" PRId64 "` would be %.1f C, outside of %.0f C to %.0f C", raw, degrees,
                           (double)s->lo / 1000, (double)s->hi / 1000));
}

static void judge(struct qs_board_sensor *s, const struct qs_survey_row *row, const struct known *k,
                  enum qs_reading_unit unit)
{
    int64_t raw = 0;
    QS_FREED char *text = qs_row_text(row);
    bool energy = qs_reads_energy(unit);
    bool has_raw = s->bits  ? read_bits(text, &raw)
                   : energy ? read_whole_of(text, &raw)
                            : qs_row_whole(row, &raw);
    bool is_none = k->reject != NULL && qs_reads_degrees(unit);
    if (!s->bits)
        set_unit(s, is_none ? QS_READS_COUNT : unit, has_raw, raw);
    s->value = !has_raw ? 0 : (s->bits ? raw & s->mul : raw * s->mul) / s->div;
    if (is_none)
        refuse(s, QS_SENSOR_NOT_TEMPERATURE,
               qs_asprintf("not a temperature (its type is `%s`): %s", s->type, k->reject));
    else if (row->status != QS_READING_OK)
        refuse(s, QS_SENSOR_UNREADABLE,
               qs_asprintf("it cannot be read: %s",
                           row->error == ETIMEDOUT ? "its driver does not answer" : strerror(row->error)));
    else if (text != NULL && strcmp(text, "-99.9") == 0)
        refuse(s, QS_SENSOR_PLACEHOLDER, qs_strdup("it reads -99.9, which means that there is no reading"));
    else if (!has_raw)
        refuse(s, QS_SENSOR_NO_NUMBER,
               text != NULL ? qs_asprintf("`%.60s` is not a whole number", text) : qs_strdup("it is empty"));
    else
        judge_number(s, raw);
}

static char *path_of(const struct qs_work *w, const char *folder, const char *file)
{
    const struct qs_survey_row *row = qs_work_in(w, folder, file);
    return row != NULL ? qs_strdup(row->path) : NULL;
}

static void add_energy(const struct qs_work *w, const struct qs_profile_sensor *p, const char *folder,
                       struct qs_board_sensor *s)
{
    s->wraps_file = path_of(w, folder, p->wraps);
    s->volts_file = path_of(w, folder, p->volts);
    s->average_ms = (size_t)(p->average_ns / 1000000);
    if (p->status == NULL)
        return;
    QS_BUF(words);
    qs_buf_fmt(&words, "%s/%s", folder, p->status); /* where it is not there, nothing counts */
    for (size_t i = 0; i < p->valid.count; i++)
        qs_buf_fmt(&words, "\n%s", p->valid.at[i]);
    s->status_words = qs_buf_take(&words);
}

static void add_sensor(struct qs_work *w, const struct qs_profile_sensor *p, const char *folder,
                       const char *path)
{
    struct qs_board *b = w->board;
    struct qs_board_sensor s = {0};
    char *type = p->type != NULL ? qs_row_text(qs_work_in(w, folder, p->type)) : NULL;
    s.type = type != NULL ? type : qs_work_name("{folder}", &p->each, folder, "", "");
    struct known k = look_up(w, s.type);
    bool declared = p->unit != QS_READS_UNSET && p->unit != QS_READS_AUTO;
    enum qs_reading_unit unit = declared ? p->unit : k.unit;
    struct qs_profile_range range = k.range.given ? k.range : p->range;
    if (!range.given)
        range = (struct qs_profile_range){true, LOW_MC, HIGH_MC};
    if (unit == QS_READS_COUNT)
        range = (struct qs_profile_range){true, INT32_MIN, INT32_MAX};
    if (qs_reads_energy(unit))
        range = (struct qs_profile_range){true, -ENERGY_MOST, ENERGY_MOST};
    s.name = qs_work_unique(qs_work_name(p->name, &p->each, folder, s.type, path), b->sensors.at,
                            b->sensors.count, sizeof *b->sensors.at);
    s.path = qs_strdup(path);
    s.role = p->role != QS_ROLE_UNSET ? p->role : k.role != QS_ROLE_UNSET ? k.role : QS_ROLE_OTHER;
    s.lo = range.lo_mc;
    s.hi = range.hi_mc;
    s.watch = k.watch != QS_WATCH_UNSET ? k.watch : p->watch != QS_WATCH_UNSET ? p->watch : QS_WATCH_NEVER;
    if (p->mask > 0) {
        s.bits = true;
        s.unit = QS_READS_COUNT;
        s.mul = p->mask;
        s.div = s.mul & -s.mul;
    }
    if (qs_reads_energy(unit))
        add_energy(w, p, folder, &s);
    judge(&s, qs_work_find(w, path), &k, unit);
    s.said = s.bits ? bits_in_words(&p->bits, s.value) : NULL;
    b->sensors.at = qs_grow(b->sensors.at, b->sensors.count, sizeof *b->sensors.at);
    b->sensors.at[b->sensors.count++] = s;
}

/* Several sensors may share a file by their bits. */
static bool has_path(const struct qs_board *b, const char *path, int64_t mask)
{
    for (size_t i = 0; i < b->sensors.count; i++)
        if (strcmp(b->sensors.at[i].path, path) == 0 &&
            (!b->sensors.at[i].bits || b->sensors.at[i].mul == mask))
            return true;
    return false;
}

static bool is_for(const struct qs_work *w, const struct qs_profile_sensor *p, const char *folder)
{
    QS_FREED char *type = p->type != NULL ? qs_row_text(qs_work_in(w, folder, p->type)) : NULL;
    bool is = p->only.count == 0;
    for (size_t i = 0; i < p->only.count && type != NULL; i++)
        is = is || qs_glob_type(p->only.at[i], type);
    return is;
}

static void take_folder(struct qs_work *w, const struct qs_profile_sensor *p, const char *folder)
{
    QS_SCOPED(qs_strings_done) struct qs_strings files = {0};
    if (p->value == NULL || !is_for(w, p, folder))
        return;
    if (strpbrk(p->value, "*?[") == NULL) {
        const struct qs_survey_row *row = qs_work_in(w, folder, p->value);
        if (row != NULL)
            qs_strings_add(&files, qs_strdup(row->path));
    } else {
        QS_FREED char *pattern = qs_asprintf("%s/%s", folder, p->value);
        qs_work_files(w, pattern, &files);
    }
    for (size_t i = 0; i < files.count; i++) {
        if (has_path(w->board, files.at[i], p->mask))
            continue;
        if (w->board->sensors.count == QS_BOARD_SENSORS_MAX) {
            qs_work_note(w, "more than %d sensors: the others are left out", QS_BOARD_SENSORS_MAX);
            return;
        }
        add_sensor(w, p, folder, files.at[i]);
    }
}

void qs_work_sensors(struct qs_work *w)
{
    QS_SCOPED(qs_strings_done) struct qs_strings keys = {0};
    for (size_t l = 0; l < w->layer_count; l++)
        for (size_t i = 0; i < w->layers[l]->sensor_count; i++) {
            const struct qs_profile_sensor *p = &w->layers[l]->sensors[i];
            QS_SCOPED(qs_strings_done) struct qs_strings folders = {0};
            if (qs_work_seen(&keys, p->key))
                continue;
            qs_work_folders(w, &p->each, &folders);
            for (size_t k = 0; k < folders.count; k++)
                take_folder(w, p, folders.at[k]);
        }
}

/* row: of its file; of a command the one that says it is there, or NULL. */
static void add_switch(struct qs_work *w, const struct qs_profile_switch *p, const char *folder,
                       const struct qs_survey_row *row)
{
    bool tool = qs_profile_switch_is_tool(p);
    struct qs_board *b = w->board;
    struct qs_board_switch s = {.kind = p->kind,
                                .path = tool ? qs_tool_text(p) : qs_strdup(row->path),
                                .said = tool ? NULL : qs_row_text(row),
                                .on = qs_strdup(p->on),
                                .off = qs_strdup(p->off),
                                .lo = p->low,
                                .hi = p->high,
                                .persistent = p->persistent};
    s.name = qs_work_unique(qs_work_name(p->name, &p->each, folder, "", row != NULL ? row->path : ""),
                            b->switches.at, b->switches.count, sizeof *b->switches.at);
    s.writable = tool || (row->status == QS_READING_OK && (row->access & QS_BOARD_WRITABLE) != 0 &&
                          !qs_work_avoided(w, row->path));
    b->switches.at = qs_grow(b->switches.at, b->switches.count, sizeof *b->switches.at);
    b->switches.at[b->switches.count++] = s;
}

static bool has_room(struct qs_work *w)
{
    bool room = w->board->switches.count < QS_BOARD_SWITCHES_MAX;
    w->switches_left += !room;
    return room;
}

void qs_work_switches(struct qs_work *w)
{
    QS_SCOPED(qs_strings_done) struct qs_strings keys = {0};
    for (size_t l = 0; l < w->layer_count; l++)
        for (size_t i = 0; i < w->layers[l]->switch_count; i++) {
            const struct qs_profile_switch *p = &w->layers[l]->switches[i];
            QS_SCOPED(qs_strings_done) struct qs_strings folders = {0};
            if (qs_work_seen(&keys, p->key))
                continue;
            qs_work_folders(w, &p->each, &folders);
            if (p->each.count == 0 && has_room(w))
                add_switch(w, p, "", NULL);
            for (size_t k = 0; k < folders.count; k++) {
                const struct qs_survey_row *row = qs_work_in(w, folders.at[k], p->file);
                if (row != NULL && has_room(w))
                    add_switch(w, p, folders.at[k], row);
            }
        }
    if (w->switches_left > 0)
        qs_work_note(w, "more than %d switches: the others are left out", QS_BOARD_SWITCHES_MAX);
}
