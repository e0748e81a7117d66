/* The one form of a board: rows that write it, read it again and free it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/scalar.h"
#include "device/board/board.h"
#include "report/fields.h"

enum { JSON_BYTES = 16 * 1024 * 1024, LIST_MAX = 4096 };

static const char *const hold_words[] = {"ok", "no-file", "denied", "avoided", "no-numbers", NULL};
static const char *const status_words[] = {
    "ok", "not-temperature", "placeholder", "zero", "unreadable", "no-number", "implausible", "spoilt", NULL};
static const char *const limit_words[] = {"frequency", "level", NULL};

static const struct qs_field cluster_rows[] = {
    QS_ROW(qs_board_cluster, name, TEXT, "`little`, `big`, `prime`; `all` where all are alike",
           .known = true),
    QS_ROW(qs_board_cluster, cpus, TEXT, "its processors, as 0-3,6", .known = true),
    QS_ROW(qs_board_cluster, capacity, COUNT, "capacity of each, 1024 at most; 0: not known"),
    QS_ROW(qs_board_cluster, max_khz, COUNT, "its highest frequency; 0: not known"),
    {.name = NULL}};

#define DOMAIN(member, kind, ...) QS_ROW(qs_board_domain, member, kind, __VA_ARGS__)
static const struct qs_field domain_rows[] = {
    DOMAIN(name, TEXT, "its name, unique", .known = true),
    DOMAIN(kind, WORD, "what runs at this frequency", .words = qs_domain_kinds),
    DOMAIN(cpus, TEXT, "its processors"),
    DOMAIN(steps_khz, COUNTS, "its operating points, ascending"),
    DOMAIN(steps_raw, COUNTS, "the same as its files write them"),
    DOMAIN(range, BOOL, "every frequency between the first and the last is allowed"),
    DOMAIN(unit, WORD, "what its files count in", .words = qs_domain_units),
    DOMAIN(limits, WORD, "what its limits hold", .words = limit_words),
    DOMAIN(hw_min_khz, COUNT, "the lowest that the hardware can do; 0: not known, as below"),
    DOMAIN(hw_max_khz, COUNT, "the highest"),
    DOMAIN(min_khz, COUNT, "the lower limit, when surveyed"),
    DOMAIN(max_khz, COUNT, "the upper limit"),
    DOMAIN(current_khz, COUNT, "the frequency, when surveyed"),
    DOMAIN(governors, TEXTS, "governors that it offers"),
    DOMAIN(governor, TEXT, "the governor, when surveyed"),
    DOMAIN(governor_file, TEXT, "the file of the governor, where it may be written"),
    DOMAIN(min_file, TEXT, "the file of the lower limit"),
    DOMAIN(max_file, TEXT, "the file of the upper limit"),
    DOMAIN(set_file, TEXT, "the file that sets the frequency under governor `userspace`"),
    DOMAIN(current_file, TEXT, "the file that reads the frequency"),
    DOMAIN(residency_file, TEXT, "the file with the time at each frequency; null: not available"),
    DOMAIN(residency_ms, COUNT, "the unit of these times, in milliseconds"),
    DOMAIN(transitions_file, TEXT, "the file that counts changes of the frequency"),
    DOMAIN(hold_governor, TEXT, "the governor under which it is held; null: its own"),
    DOMAIN(hold, WORD, "whether it can be held at a frequency", .words = hold_words),
    DOMAIN(why, TEXT, "why not, and what to do"),
    {.name = NULL}};

#define SENSOR(member, kind, ...) QS_ROW(qs_board_sensor, member, kind, __VA_ARGS__)
static const struct qs_field sensor_rows[] = {
    SENSOR(name, TEXT, "its name, unique, as a gate names it", .known = true),
    SENSOR(type, TEXT, "what the device calls it", .known = true),
    SENSOR(path, TEXT, "its file, or its command", .known = true),
    SENSOR(role, WORD, "what it is near", .words = qs_sensor_roles),
    SENSOR(unit, WORD, "what its file counts in", .words = qs_reading_units),
    SENSOR(mul, WHOLE, "value = what the file says * mul / div"),
    SENSOR(div, WHOLE, "see mul"),
    SENSOR(lo, WHOLE, "the lowest plausible value"),
    SENSOR(hi, WHOLE, "the highest"),
    SENSOR(bits, BOOL, "its file has a hexadecimal number: value = the bits of mul that it has / div"),
    SENSOR(watch, WORD, "which readings taint a window", .words = qs_watches),
    SENSOR(command, TEXT, "of a command: how the agent is asked for it, as BIND has it; null: it is a file"),
    SENSOR(mend, TEXT, "of a command: what ends made-up values"),
    SENSOR(wraps_file, TEXT, "of energy: the file with the number at which it begins at 0 again",
           .later = true),
    SENSOR(volts_file, TEXT, "of a charge: the file of its voltage", .later = true),
    SENSOR(status_words, TEXT,
           "of energy: the file that says whether it counts, and the words that say so, a line each",
           .later = true),
    SENSOR(average_ms, COUNT, "of a power: the time of which it is the mean; 0: not known", .later = true),
    SENSOR(said, TEXT, "of bits: which of them it had, in words"),
    SENSOR(value, WHOLE,
           "when surveyed, in thousandths of a degree, in uJ, uWh, uAh or uW, or a number; 0 without one"),
    SENSOR(status, WORD, "whether its value is credible", .words = status_words),
    SENSOR(why, TEXT, "why not"),
    {.name = NULL}};

#define SWITCH(member, kind, ...) QS_ROW(qs_board_switch, member, kind, __VA_ARGS__)
static const struct qs_field switch_rows[] = {
    SWITCH(name, TEXT, "its name, unique", .known = true),
    SWITCH(path, TEXT, "its file, or its commands as TUNE has them", .known = true),
    SWITCH(kind, WORD, "what it switches", .words = qs_switch_kinds),
    SWITCH(said, TEXT, "text of the file, when surveyed"),
    SWITCH(on, TEXT, "text that switches it on; null: it takes a number"),
    SWITCH(off, TEXT, "text that switches it off"),
    SWITCH(lo, WHOLE, "the lowest number"),
    SWITCH(hi, WHOLE, "the highest"),
    SWITCH(persistent, BOOL, "it survives a reboot"),
    SWITCH(writable, BOOL, "the agent's user may write it"),
    {.name = NULL}};

#define BOARD(member, kind, ...) QS_ROW(qs_board, member, kind, __VA_ARGS__)
#define OBJECTS(member, rows, type, says)                                                                    \
    BOARD(member, OBJECTS, says, .of = rows, .bytes = sizeof(struct type))
static const struct qs_field board_rows[] = {
    BOARD(version, COUNT, "version of this form: 1"),
    BOARD(profiles, TEXTS, "the profiles it was made from, the most specific first"),
    BOARD(cpus, TEXT, "the processors present, as 0-7"),
    BOARD(online, TEXT, "those online"),
    OBJECTS(clusters, cluster_rows, qs_board_cluster, "groups of equal processors, the slowest first"),
    OBJECTS(domains, domain_rows, qs_board_domain, "frequency domains"),
    OBJECTS(sensors, sensor_rows, qs_board_sensor, "what can be read"),
    OBJECTS(switches, switch_rows, qs_board_switch, "what can be switched"),
    BOARD(notes, TEXTS, "what was left out, for people"),
    {.name = NULL}};

void qs_board_json(const struct qs_board *board, struct qs_buf *out)
{
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_put_fields(&j, board_rows, board);
    qs_json_object_end(&j);
}

void qs_board_table(struct qs_buf *out)
{
    for (const struct qs_field *row = board_rows; row->name != NULL; row++) {
        const struct qs_field one[] = {*row, {.name = NULL}};
        qs_fields_table(out, one, "");
        QS_FREED char *below = qs_asprintf("%s[].", row->name);
        if (row->of != NULL)
            qs_fields_table(out, row->of, below);
    }
}

/* --- the way back --- */

static bool read_object(const struct qs_field *rows, const struct qs_node *node, void *of,
                        struct qs_err *err);

static bool wrong(struct qs_err *err, const struct qs_field *row)
{
    return qs_fail(err, QS_E_DATA, "`%s` is not what a board has there", row->name);
}

static bool read_text(const struct qs_field *row, const struct qs_node *node, void *at, struct qs_err *err)
{
    bool none = node->kind == QS_NODE_NULL;
    if ((none && row->known) || (!none && (node->kind != QS_NODE_TEXT || !node->quoted)))
        return wrong(err, row);
    char *text = none ? NULL : qs_strdup(node->text);
    memcpy(at, &text, sizeof text);
    return true;
}

static bool read_word(const struct qs_field *row, const struct qs_node *node, void *at, struct qs_err *err)
{
    unsigned value = 0;
    while (row->words[value] != NULL &&
           (node->kind != QS_NODE_TEXT || strcmp(row->words[value], node->text) != 0))
        value++;
    if (row->words[value] == NULL)
        return wrong(err, row);
    memcpy(at, &value, sizeof value);
    return true;
}

static bool read_whole(const struct qs_node *node, int64_t *ret)
{
    struct qs_scalar_why why;
    return node->kind == QS_NODE_TEXT && !node->quoted && qs_scalar_int(node->text, ret, &why);
}

/* Of a list: what has been read is counted, so that it can be freed. */
static bool read_list(const struct qs_field *row, const struct qs_node *node, void *at, struct qs_err *err)
{
    size_t bytes = row->kind == QS_FIELD_OBJECTS ? row->bytes
                   : row->kind == QS_FIELD_TEXTS ? sizeof(char *)
                                                 : sizeof(size_t);
    if (node->kind != QS_NODE_LIST || node->count > LIST_MAX)
        return wrong(err, row);
    struct qs_field_list list = {qs_calloc(node->count + 1, bytes), node->count};
    memcpy(at, &list, sizeof list);
    for (size_t i = 0; i < node->count; i++) {
        const struct qs_node *item = &node->items[i];
        char *to = (char *)list.v + i * bytes;
        int64_t v = 0;
        if (row->kind == QS_FIELD_OBJECTS) {
            if (!read_object(row->of, item, to, err))
                return false;
        } else if (row->kind == QS_FIELD_TEXTS) {
            if (item->kind != QS_NODE_TEXT || !read_text(row, item, to, err))
                return wrong(err, row);
        } else if (!read_whole(item, &v) || v < 0) {
            return wrong(err, row);
        } else {
            memcpy(to, &(size_t){(size_t)v}, sizeof(size_t));
        }
    }
    return true;
}

static bool read_field(const struct qs_field *row, const struct qs_node *node, void *at, struct qs_err *err)
{
    int64_t v = 0;
    if (row->kind == QS_FIELD_TEXT)
        return read_text(row, node, at, err);
    if (row->kind == QS_FIELD_WORD)
        return read_word(row, node, at, err);
    if (row->kind == QS_FIELD_BOOL) {
        bool yes = node->kind == QS_NODE_TEXT && strcmp(node->text, "true") == 0;
        memcpy(at, &yes, sizeof yes);
        return yes || (node->kind == QS_NODE_TEXT && strcmp(node->text, "false") == 0) || wrong(err, row);
    }
    if (row->kind != QS_FIELD_COUNT && row->kind != QS_FIELD_WHOLE)
        return read_list(row, node, at, err);
    if (!read_whole(node, &v) || (row->kind == QS_FIELD_COUNT && v < 0))
        return wrong(err, row);
    if (row->kind == QS_FIELD_COUNT)
        memcpy(at, &(size_t){(size_t)v}, sizeof(size_t));
    else
        memcpy(at, &v, sizeof v);
    return true;
}

static bool read_object(const struct qs_field *rows, const struct qs_node *node, void *of, struct qs_err *err)
{
    for (; rows->name != NULL; rows++) {
        const struct qs_node *value = qs_node_get(node, rows->name, NULL);
        if (value == NULL && rows->later)
            continue;
        if (value == NULL)
            return qs_fail(err, QS_E_DATA, "`%s` is missing", rows->name);
        if (!read_field(rows, value, (char *)of + rows->at, err))
            return false;
    }
    return true;
}

/* What its users rely on and the rows do not say. */
static bool holds_together(const struct qs_board *b, struct qs_err *err)
{
    if (b->version != 1)
        return qs_fail(err, QS_E_DATA, "it is a board of version %zu, and this quiesced reads version 1",
                       b->version);
    for (size_t i = 0; i < b->domains.count; i++) {
        const struct qs_board_domain *d = &b->domains.at[i];
        bool held = d->hold == QS_HOLD_OK;
        if (d->steps_khz.count != d->steps_raw.count || (d->range && d->steps_khz.count == 0) ||
            (held && (d->min_file == NULL || d->max_file == NULL || d->steps_khz.count == 0)))
            return qs_fail(err, QS_E_DATA, "the domain `%s` contradicts itself", qs_show(d->name).text);
    }
    for (size_t i = 0; i < b->sensors.count; i++)
        if (b->sensors.at[i].div < 1)
            return qs_fail(err, QS_E_DATA, "the sensor `%s` divides by less than 1",
                           qs_show(b->sensors.at[i].name).text);
    return true;
}

struct qs_board *qs_board_from_json(const char *json, struct qs_err *err)
{
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    struct qs_board *b = qs_calloc(1, sizeof *b);
    if (!qs_doc_read_most("board", json, strlen(json), JSON_BYTES, true, &doc, &problems))
        qs_fail(err, QS_E_DATA, "%s", problems.count > 0 ? problems.at[0].what : "it is not valid JSON");
    else if (read_object(board_rows, &doc->root, b, err) && holds_together(b, err))
        return b;
    qs_fail_prefix(err, "a stored board");
    qs_board_free(b);
    return NULL;
}

static void release(const struct qs_field *rows, void *of)
{
    for (; rows->name != NULL; rows++) {
        char *at = (char *)of + rows->at, *text;
        struct qs_field_list list;
        if (rows->kind == QS_FIELD_TEXT) {
            memcpy(&text, at, sizeof text);
            free(text);
        } else if (rows->kind >= QS_FIELD_NUMBERS && rows->kind <= QS_FIELD_OBJECTS) {
            memcpy(&list, at, sizeof list);
            for (size_t i = 0; i < list.n && rows->kind == QS_FIELD_OBJECTS; i++)
                release(rows->of, (char *)list.v + i * rows->bytes);
            for (size_t i = 0; i < list.n && rows->kind == QS_FIELD_TEXTS; i++)
                free(((char **)list.v)[i]);
            free(list.v);
        }
    }
}

void qs_board_free(struct qs_board *board)
{
    if (board == NULL)
        return;
    release(board_rows, board);
    free(board);
}
