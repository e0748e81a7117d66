/* JUnit's XML, as Jenkins, GitLab and GitHub's actions read it: testsuites, testsuite, testcase. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/export.h"
#include "ctl/findings.h"

enum outcome { PASSED, FAILED, SKIPPED };

/* XML 1.0 has no control characters but tab and the line ends, not even escaped ones, and neither U+FFFE nor
 * U+FFFF: they are shown as \xNN. */
static void put_text(struct qs_buf *out, const char *s)
{
    static const char *const names[] = {['<'] = "&lt;",   ['>'] = "&gt;",  ['&'] = "&amp;", ['"'] = "&quot;",
                                        ['\n'] = "&#10;", ['\t'] = "&#9;", ['\r'] = "&#13;"};
    size_t n = strlen(s);
    for (size_t i = 0; i < n;) {
        bool valid = false;
        size_t step = qs_utf8_next(s + i, n - i, &valid);
        unsigned char c = (unsigned char)s[i];
        bool banned = (step == 1 && (c < 0x20 || c == 0x7f)) ||
                      (step == 3 && strncmp(s + i, "\xef\xbf", 2) == 0 && (unsigned char)s[i + 2] >= 0xbe);
        if (valid && step == 1 && c < sizeof(names) / sizeof(names[0]) && names[c] != NULL)
            qs_buf_str(out, names[c]);
        else if (valid && !banned)
            qs_text_escape(out, s + i, step);
        else
            for (size_t k = 0; k < step; k++)
                qs_buf_fmt(out, "\\x%02x", (unsigned)(unsigned char)s[i + k]);
        i += step;
    }
}

static void put_attribute(struct qs_buf *out, const char *name, const char *value)
{
    qs_buf_fmt(out, " %s=\"", name);
    put_text(out, value);
    qs_buf_char(out, '"');
}

static enum outcome outcome_of(const struct qs_finding *f)
{
    bool regression = strcmp(f->verdict, "regression") == 0;
    if (regression && f->stands)
        return FAILED;
    return regression || strcmp(f->verdict, "inconclusive") == 0 ? SKIPPED : PASSED;
}

/* How long the candidate takes: its median in seconds, 0 where the values are no times. */
static double seconds_of(const struct qs_finding *f)
{
    static const struct {
        const char *unit;
        double s;
    } units[] = {{"ns", 1e-9}, {"ns/op", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].unit, f->unit) == 0 && isfinite(f->cand))
            return f->cand * units[i].s;
    return 0;
}

static void put_message(struct qs_buf *out, const struct qs_finding *f)
{
    qs_buf_fmt(out, "%s: %s", f->verdict, f->sentence);
    if (f->reason[0] != '\0' && strcmp(f->reason, "none") != 0)
        qs_buf_fmt(out, " (%s)", f->reason);
    if (f->notes[0] != '\0')
        qs_buf_fmt(out, "; %s", f->notes);
    if (!f->stands)
        qs_buf_str(out, "; expected by chance among so many comparisons");
}

static void put_case(struct qs_buf *out, const struct qs_finding *f)
{
    static const char *const elements[] = {"system-out", "failure", "skipped"};
    QS_BUF(name);
    QS_BUF(message);
    enum outcome outcome = outcome_of(f);
    qs_buf_fmt(&name, "%s%s%s%s%s", f->point, f->point[0] != '\0' ? " " : "", f->metric,
               f->arms[0] != '\0' ? " " : "", f->arms);
    put_message(&message, f);
    qs_buf_str(out, "    <testcase");
    put_attribute(out, "classname", f->where);
    put_attribute(out, "name", name.data);
    qs_buf_fmt(out, " time=\"%.9f\">\n      <%s", seconds_of(f), elements[outcome]);
    if (outcome == FAILED)
        put_attribute(out, "type", f->verdict);
    if (outcome != PASSED)
        put_attribute(out, "message", message.data);
    qs_buf_char(out, '>');
    if (outcome != SKIPPED)
        put_text(out, message.data);
    qs_buf_fmt(out, "</%s>\n    </testcase>\n", elements[outcome]);
}

static void put_refused(struct qs_buf *out, const json_t *doc)
{
    size_t i;
    const json_t *change;
    qs_buf_str(out, "    <testcase classname=\"quiesce\" name=\"environment\" time=\"0\">\n      <error "
                    "type=\"environment\" message=\"the sides differ in more than the arm\">");
    json_array_foreach(json_object_get(doc, "environment"), i, change)
    {
        if (!qs_json_get_true(change, "matters") || qs_json_get_true(change, "allowed"))
            continue;
        put_text(out, qs_json_get_text(change, "key", ""));
        qs_buf_str(out, ": ");
        put_text(out, qs_json_get_text(change, "base", "none"));
        qs_buf_str(out, " | ");
        put_text(out, qs_json_get_text(change, "candidate", "none"));
        qs_buf_char(out, '\n');
    }
    qs_buf_str(out, "</error>\n    </testcase>\n");
}

/* Which iterations the verdicts stand on, where they are not all. */
static void put_views(struct qs_buf *out, const json_t *doc)
{
    QS_BUF(lines);
    qs_findings_views(doc, &lines);
    if (lines.len > 0) {
        lines.data[--lines.len] = '\0'; /* its last line end */
        qs_buf_str(out, "    <properties>\n      <property name=\"views\"");
        put_attribute(out, "value", lines.data);
        qs_buf_str(out, "/>\n    </properties>\n");
    }
}

static void put_suite(struct qs_buf *out, const json_t *doc, const struct qs_findings *f)
{
    size_t counts[3] = {0}, refused = qs_findings_refused(doc) ? 1 : 0;
    char *title = qs_findings_title(doc);
    for (size_t i = 0; i < f->count; i++)
        counts[outcome_of(&f->at[i])]++;
    qs_buf_fmt(out, "  <testsuite tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"0\"",
               f->count + refused, counts[FAILED], refused, counts[SKIPPED]);
    put_attribute(out, "name", title);
    qs_buf_str(out, ">\n");
    put_views(out, doc);
    if (refused > 0)
        put_refused(out, doc);
    for (size_t i = 0; i < f->count; i++)
        put_case(out, &f->at[i]);
    qs_buf_str(out, "  </testsuite>\n");
    free(title);
}

void qs_export_junit(const json_t *doc, struct qs_buf *out)
{
    struct qs_findings findings;
    qs_findings_of(doc, &findings);
    qs_buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    put_suite(out, doc, &findings);
    qs_buf_str(out, "</testsuites>\n");
    qs_findings_done(&findings);
}
