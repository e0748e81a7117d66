#include "device/board/starter.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/board/impl.h"
#include "device/board/knob.h"
#include "report/system.h"

enum { FACTS_BYTES = 4 * 1024 * 1024, FILES_MOST = 8, TYPES_MOST = 48, ROWS_MOST = 60, NAMES_MOST = 1000 };

/* ---- text that came from the device ---- */

/* Between double quotes, as YAML and JSON have it. */
static void put_quoted(struct qs_buf *out, const char *text)
{
    qs_buf_char(out, '"');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            qs_buf_fmt(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            qs_buf_fmt(out, "\\x%02x", (unsigned)(unsigned char)*c);
        else
            qs_buf_char(out, *c);
    }
    qs_buf_char(out, '"');
}

/* So that the pattern fits nothing but the text (FNM_NOESCAPE). */
static char *as_pattern(const char *text, size_t n)
{
    QS_BUF(out);
    for (size_t i = 0; i < n; i++)
        qs_buf_fmt(&out, strchr("*?[", text[i]) != NULL ? "[%c]" : "%c", text[i]);
    return qs_buf_take(&out);
}

/* A line of a comment: whatever the text has, it stays one. */
static void put_comment(struct qs_buf *out, const char *indent, const char *text)
{
    qs_buf_fmt(out, "%s# ", indent);
    for (const char *c = text; *c != '\0'; c++)
        qs_buf_char(out, (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c);
    qs_buf_char(out, '\n');
}

static void comment(struct qs_buf *out, const char *indent, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void comment(struct qs_buf *out, const char *indent, const char *fmt, ...)
{
    va_list ap;
    QS_BUF(text);
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    put_comment(out, indent, text.data);
}

/* ---- which device ---- */

static const char *fact(const struct qs_node *facts, const char *key)
{
    const struct qs_node *value = qs_node_get(facts, key, NULL);
    return value != NULL && value->kind == QS_NODE_TEXT && value->text[0] != '\0' ? value->text : NULL;
}

static void put_pair(struct qs_buf *out, bool *any, const char *lead, const char *key, const char *pattern)
{
    qs_buf_str(out, *any ? ", " : lead);
    put_quoted(out, key);
    qs_buf_str(out, ": ");
    put_quoted(out, pattern);
    *any = true;
}

/* An Android build is told by its product: the build itself changes with each update. */
static void put_facts(struct qs_buf *out, const char *facts_json, bool *any)
{
    static const char *const keys[] = {"machine", "cpu_model"};
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    if (facts_json == NULL ||
        !qs_doc_read_most("facts", facts_json, strlen(facts_json), FACTS_BYTES, true, &doc, &problems))
        return;
    const struct qs_node *facts = qs_system_facts(doc);
    const char *build = fact(facts, "fingerprint");
    if (build != NULL) {
        QS_FREED char *product = as_pattern(build, strcspn(build, ":"));
        QS_FREED char *pattern = qs_asprintf("%s:*", product);
        put_pair(out, any, "  - facts: {", "fingerprint", pattern);
    }
    for (size_t i = 0; build == NULL && i < sizeof keys / sizeof *keys; i++) {
        const char *value = fact(facts, keys[i]);
        QS_FREED char *pattern = as_pattern(value != NULL ? value : "", value != NULL ? strlen(value) : 0);
        if (value != NULL)
            put_pair(out, any, "  - facts: {", keys[i], pattern);
    }
}

/* Of its clocks, which other devices of the same processor need not have; of the processors' the first alone,
 * because those of others go while they are off. */
static void put_files(struct qs_buf *out, const struct qs_board *board, const char *lead, bool *any)
{
    bool cpu = false;
    size_t n = 0;
    for (size_t i = 0; i < board->domains.count && n < FILES_MOST; i++) {
        const struct qs_board_domain *d = &board->domains.at[i];
        const char *file = d->current_file != NULL ? d->current_file : d->max_file;
        bool again = d->kind == QS_DOMAIN_CPU && cpu;
        cpu = cpu || d->kind == QS_DOMAIN_CPU;
        if (file == NULL || again || strpbrk(file, "*?[") != NULL)
            continue;
        put_pair(out, any, lead, file, "*");
        n++;
    }
}

static void put_match(struct qs_buf *out, const struct qs_starter *of)
{
    bool facts = false, files = false;
    qs_buf_str(out, "\nmatch:\n");
    put_facts(out, of->facts_json, &facts);
    qs_buf_str(out, facts ? "}\n" : "");
    put_files(out, of->board, facts ? "    files: {" : "  - files: {", &files);
    if (!facts && !files) {
        comment(out, "  ", "every device, until you write what tells this one from others");
        put_pair(out, &files, "  - files: {", "devices/system/cpu/present", "*");
    }
    qs_buf_str(out, files ? "}\n" : "");
}

/* ---- clocks and switches ---- */

static const struct qs_knob_row *knob_of(const struct qs_starter *of, const char *name)
{
    for (size_t i = 0; i < of->knob_count; i++)
        if (strcmp(of->knobs[i].name, name) == 0)
            return &of->knobs[i];
    return NULL;
}

static void put_clock(struct qs_buf *out, const struct qs_starter *of, const struct qs_board_domain *d)
{
    const struct qs_knob_row *knob = knob_of(of, d->name);
    QS_BUF(range);
    if (d->unit == QS_DOMAIN_RAW)
        qs_buf_fmt(&range, "%zu levels", d->steps_khz.count);
    else if (d->steps_khz.count > 0)
        qs_buf_fmt(&range, "%.10g to %.10g MHz, %s", (double)d->steps_khz.at[0] / 1000,
                   (double)d->steps_khz.at[d->steps_khz.count - 1] / 1000, d->range ? "any" : "in steps");
    else
        qs_buf_str(&range, "frequencies that cannot be told");
    comment(out, "", "  %s (%s%s%s): %s; %s%s", d->name, qs_domain_kinds[d->kind],
            d->cpus != NULL ? ", CPUs " : "", d->cpus != NULL ? d->cpus : "", range.data,
            d->hold == QS_HOLD_OK ? "can be held" : "cannot be held",
            knob != NULL && strcmp(knob->sticks, "yes") == 0 && strcmp(knob->effect, "yes") == 0
                ? ", and its clock follows"
                : "");
}

/* What is missing, with what would be needed: the board's reasons say that. */
static void put_troubles(struct qs_buf *out, const struct qs_starter *of)
{
    size_t n = 0;
    QS_BUF(text);
    for (size_t i = 0; i < of->board->domains.count; i++) {
        const struct qs_board_domain *d = &of->board->domains.at[i];
        if (d->hold != QS_HOLD_OK)
            qs_buf_fmt(&text, "%s%s: %s", n++ > 0 ? "\n" : "", d->name, d->why != NULL ? d->why : "?");
    }
    for (size_t i = 0; i < of->knob_count; i++) {
        qs_buf_str(&text, qs_knob_is_doubtful(&of->knobs[i]) && n++ > 0 ? "\n" : "");
        if (qs_knob_is_doubtful(&of->knobs[i]))
            qs_knob_say(&of->knobs[i], &text);
    }
    if (n == 0)
        return;
    comment(out, "", "What cannot be held, or cannot be relied on, and what it would need:");
    for (char *line = text.data, *end; line != NULL; line = end) {
        end = strchr(line, '\n');
        if (end != NULL)
            *end++ = '\0';
        comment(out, "", "  %s", line);
    }
}

static void put_found(struct qs_buf *out, const struct qs_starter *of)
{
    const struct qs_board *b = of->board;
    size_t of_kind[QS_SWITCH_OTHER + 1] = {0};
    qs_buf_char(out, '\n');
    if (b->domains.count > 0)
        comment(out, "", "Clocks, as the profiles above this one find them:");
    for (size_t i = 0; i < b->domains.count; i++)
        put_clock(out, of, &b->domains.at[i]);
    for (size_t i = 0; i < b->switches.count; i++)
        of_kind[b->switches.at[i].kind]++;
    QS_BUF(text);
    for (size_t k = 0; k <= QS_SWITCH_OTHER; k++)
        if (of_kind[k] > 0)
            qs_buf_fmt(&text, "%s%s %zu", text.len > 0 ? ", " : "", qs_switch_kinds[k], of_kind[k]);
    if (text.len > 0)
        comment(out, "", "Switches: %s", text.data);
    if (of->knob_count == 0)
        comment(out, "", "Nothing of it was tried: `quiesce devices probe %s` does that.", of->device);
    put_troubles(out, of);
}

/* ---- sensors ---- */

/* Why the row of the sensor is rejected; NULL: it is not. *ret_active: for good, whatever it reads. */
static const char *rejected(const struct qs_starter *of, const struct qs_board_sensor *s, bool *ret_active)
{
    static const char mark[] = "): ";
    *ret_active = s->status == QS_SENSOR_NOT_TEMPERATURE;
    if (*ret_active) { /* "not a temperature (its type is `x`): REASON" */
        const char *reason = strstr(s->why, mark);
        return reason != NULL ? reason + sizeof mark - 1 : s->why;
    }
    for (size_t i = 0; i < of->sensor_count && s->status == QS_SENSOR_OK; i++)
        if (strcmp(of->sensors[i].sensor, s->name) == 0) {
            *ret_active = true;
            return of->sensors[i].why != NULL ? of->sensors[i].why : of->sensors[i].says;
        }
    return s->status != QS_SENSOR_OK ? s->why : NULL;
}

static bool is_listed(const struct qs_board_sensor *s)
{
    return s->command == NULL && !s->bits && s->type[0] != '\0' &&
           (qs_reads_degrees(s->unit) || s->status == QS_SENSOR_NOT_TEMPERATURE);
}

/* Is the i'th the first of its type, and are all others of it as it is? Types are compared in any case. */
static bool speaks_for_all(const struct qs_starter *of, size_t i)
{
    const struct qs_board *b = of->board;
    const struct qs_board_sensor *s = &b->sensors.at[i];
    bool mine_active, active;
    const char *mine = rejected(of, s, &mine_active);
    for (size_t k = 0; k < b->sensors.count; k++) {
        const struct qs_board_sensor *o = &b->sensors.at[k];
        if (k == i || !is_listed(o) || strcasecmp(o->type, s->type) != 0)
            continue;
        const char *why = rejected(of, o, &active);
        if (k < i || o->unit != s->unit || o->role != s->role || (why == NULL) != (mine == NULL) ||
            active != mine_active)
            return false;
    }
    return true;
}

static void put_type(struct qs_buf *out, const char *type, bool first)
{
    QS_FREED char *pattern = as_pattern(type, strlen(type));
    qs_buf_str(out, first ? "" : ", ");
    put_quoted(out, pattern);
}

/* One row for all types of a unit and a role, as many as a row takes. */
static size_t put_kind(struct qs_buf *out, const struct qs_starter *of, enum qs_reading_unit unit,
                       enum qs_sensor_role role, size_t rows)
{
    size_t n = 0;
    for (size_t i = 0; i < of->board->sensors.count; i++) {
        const struct qs_board_sensor *s = &of->board->sensors.at[i];
        bool active;
        if (!is_listed(s) || s->unit != unit || s->role != role || rejected(of, s, &active) != NULL ||
            !speaks_for_all(of, i) || (n % TYPES_MOST == 0 && rows >= ROWS_MOST))
            continue;
        if (n % TYPES_MOST == 0) {
            rows++;
            qs_buf_fmt(out, "%s  - {role: %s, unit: %s, types: [", n > 0 ? "]}\n" : "", qs_sensor_roles[role],
                       qs_reading_units[unit]);
        }
        put_type(out, s->type, n++ % TYPES_MOST == 0);
    }
    qs_buf_str(out, n > 0 ? "]}\n" : "");
    return rows;
}

/* Those that only read badly today are comments: a connector may be plugged in, a driver may wake up. */
static size_t put_rejected(struct qs_buf *out, const struct qs_starter *of, size_t rows)
{
    for (size_t i = 0; i < of->board->sensors.count; i++) {
        const struct qs_board_sensor *s = &of->board->sensors.at[i];
        bool active;
        const char *why = is_listed(s) ? rejected(of, s, &active) : NULL;
        if (why == NULL)
            continue;
        active = active && speaks_for_all(of, i) && rows < ROWS_MOST;
        QS_BUF(row);
        QS_BUF(reason);
        qs_buf_fmt(&reason, "%.180s", why);
        qs_buf_str(&row, "- {types: [");
        put_type(&row, s->type, true);
        qs_buf_str(&row, "], reject: ");
        put_quoted(&row, reason.data);
        qs_buf_str(&row, "}");
        if (active)
            qs_buf_fmt(out, "  %s\n", row.data);
        else
            put_comment(out, "  ", row.data);
        rows += active;
    }
    return rows;
}

static void put_sensors(struct qs_buf *out, const struct qs_starter *of)
{
    QS_BUF(rows);
    size_t n = 0;
    comment(&rows, "  ", "What its sensors count in and where they are, so that no reading has to tell;");
    comment(&rows, "  ", "those that are not to be believed, with the reason.");
    for (unsigned role = QS_ROLE_CPU; role <= QS_ROLE_OTHER; role++)
        for (unsigned unit = QS_READS_MC; unit < QS_READS_COUNT; unit++)
            n = put_kind(&rows, of, (enum qs_reading_unit)unit, (enum qs_sensor_role)role, n);
    n = put_rejected(&rows, of, n);
    qs_buf_fmt(out, "\n%s%s", n > 0 ? "types:\n" : "", rows.data);
}

/* ---- all of it ---- */

/* The device's name, unless a profile has it: that one would be replaced. */
static char *name_of(const struct qs_starter *of)
{
    char *name = qs_strdup(of->device);
    for (unsigned n = 2; qs_profiles_find(of->profiles, name) != NULL && n < NAMES_MOST; n++) {
        free(name);
        name = qs_asprintf("%s-%u", of->device, n);
    }
    return name;
}

void qs_starter_profile(const struct qs_starter *of, struct qs_buf *out, char **ret_name)
{
    char date[32];
    qs_text_time(of->probed_wall_ns, date);
    *ret_name = name_of(of);
    comment(out, "", "A starter profile of %s, made of what was found on it on %.10s.", of->device, date);
    comment(out, "", "Put it into the folder `profiles` beside farm.yaml and start the daemon again;");
    comment(out, "",
            "`quiesced --check-config farm.yaml` says whether it can be read. Keys: config/README.md.");
    qs_buf_str(out, "profile: ");
    put_quoted(out, *ret_name);
    qs_buf_str(out, "\nextends: ");
    put_quoted(out, of->board->profiles.count > 0 ? of->board->profiles.at[0] : "generic");
    qs_buf_char(out, '\n');
    put_match(out, of);
    put_found(out, of);
    put_sensors(out, of);
}
