/* Files of sysfs by name, and sensors that the host makes of them; a folder of the test stands in for /sys.
 */
#include "linux/probe.h"
#include "linux/survey.h"

#include "proto/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"

static struct qs_probe probe;
static char root[64]; /* of the test in hand, which works there */

static int enter_root(void **state)
{
    static int n;
    (void)state;
    snprintf(root, sizeof root, "%s/%d", folder, n++);
    return mkdir(root, 0700) == 0 ? chdir(root) : -1;
}

static struct qs_port_found found;

static bool seek(const char *pattern, const char *after)
{
    bool ret = qs_survey_find(root, pattern, after, &found);
    if (ret) {
        qs_survey_read(root, &found);
    }
    return ret;
}

/* All that match, joined by blanks. */
static const char *all_of(const char *pattern)
{
    static char text[1024];
    size_t n = 0;
    text[0] = found.path[0] = '\0';
    while (seek(pattern, found.path)) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", found.path);
        assert_true(n < sizeof text);
    }
    return text;
}

static void finds_what_matches_in_order(void **state)
{
    (void)state;
    put("class/zone0/type", "soc\n");
    put("class/zone0/temp", "41000\n");
    put("class/zone10/temp", "1\n");
    put("class/zone2/temp", "2\n");
    put("class/zone-x/temp", "3\n");
    put("class/.hidden/temp", "4\n");
    put("class/zone2/temp.d/temp", "5\n");
    put("other", "6\n");
    assert_string_equal(all_of("class/zone*/temp"),
                        "class/zone-x/temp class/zone0/temp class/zone10/temp class/zone2/temp");
    assert_string_equal(all_of("class/*/t*"), "class/zone-x/temp class/zone0/temp class/zone0/type "
                                              "class/zone10/temp class/zone2/temp");
    assert_string_equal(all_of("class/zone[02]/type"), "class/zone0/type");
    assert_string_equal(all_of("class/zone?/temp"), "class/zone0/temp class/zone2/temp");
    assert_string_equal(all_of("other"), "other");
    assert_string_equal(all_of("*"), "other");
    assert_string_equal(all_of("class/zone0"), ""); /* a folder is no file */
    assert_string_equal(all_of("class/zone0/temp/more"), "");
    assert_string_equal(all_of("nothing/*"), "");
}

static void says_what_stands_there(void **state)
{
    static char long_text[QS_FOUND_MAX_BYTES + 50];
    (void)state;
    memset(long_text, 'x', sizeof long_text - 1);
    put("long", long_text);
    put("closed", "7");
    put("open", "8\n");
    put("read_only", "9");
    char path[4200];
    snprintf(path, sizeof path, "%s/closed", root);
    assert_int_equal(chmod(path, 0), 0);
    snprintf(path, sizeof path, "%s/read_only", root);
    assert_int_equal(chmod(path, 0444), 0);
    assert_true(seek("long", ""));
    assert_int_equal(found.n, QS_FOUND_MAX_BYTES);
    assert_true(seek("open", ""));
    assert_int_equal(found.access, QS_FILE_READABLE | QS_FILE_WRITABLE);
    assert_int_equal(found.error, 0);
    assert_int_equal(found.n, 2);
    assert_memory_equal(found.value, "8\n", 2);
    assert_true(seek("closed", ""));
    assert_int_equal(found.access,
                     0); /* for root, too: a driver takes nothing that its mode does not allow */
    assert_int_equal(found.error, geteuid() == 0 ? 0 : EACCES);
    assert_true(seek("read_only", ""));
    assert_int_equal(found.access, QS_FILE_READABLE);
    assert_false(seek("open", "open"));
}

/* The kernel's options lie beside its own /sys, and nowhere else; nothing else beside it can be reached. */
static void knows_the_kernels_options(void **state)
{
    (void)state;
    put("proc/sys/kernel/ostype", "a bed's own");
    assert_true(qs_survey_find("/sys", "proc/sys/kernel/ostype", "", &found));
    qs_survey_read("/sys", &found);
    assert_int_equal(found.error, 0);
    assert_memory_equal(found.value, "Linux\n", 6);
    assert_true(qs_survey_find("/sys", "proc/sys/kernel/ostyp?", "", &found));
    assert_string_equal(found.path, "proc/sys/kernel/ostype");
    assert_false(qs_survey_find("/sys", "proc/sys/kernel/ostype", "proc/sys/kernel/ostype", &found));
    assert_true(seek("proc/sys/kernel/ostype", ""));
    assert_memory_equal(found.value, "a bed's own", found.n);
    assert_int_equal(qs_survey_open("/sys", "proc/sys/../version", O_RDONLY), -1);
    assert_int_equal(errno, EXDEV);
    assert_int_equal(qs_survey_open("/sys", "proc/version", O_RDONLY), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(qs_survey_open(root, "proc/sys/kernel/osrelease", O_RDONLY), -1);
    assert_int_equal(errno, ENOENT);
}

/* Links are followed where they stay below the root, as those of /sys/class do. */
static void stays_below_the_root(void **state)
{
    char outside[] = "/tmp/qs-survey-XXXXXX";
    (void)state;
    int fd = mkstemp(outside);
    assert_true(fd >= 0);
    close(fd);
    put("devices/a/value", "1");
    assert_int_equal(symlink("devices/a", "inside"), 0);
    assert_int_equal(symlink(outside, "devices/a/leaves"), 0);
    assert_int_equal(symlink("inside/value", "again"), 0);
    assert_string_equal(all_of("inside/value"), "inside/value");
    assert_true(seek("inside/value", ""));
    assert_int_equal(found.error, 0);
    assert_true(seek("devices/a/leaves", ""));
    assert_int_equal(found.error, EXDEV);
    assert_int_equal(found.n, 0);
    assert_int_equal(qs_survey_open(root, "devices/a/leaves", O_RDONLY), -1);
    assert_int_equal(errno, EXDEV);
    assert_int_equal(qs_survey_open(root, "devices/../../x", O_RDONLY), -1);
    assert_int_equal(qs_survey_open(root, "devices/a", O_RDONLY), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(qs_survey_open(root, "devices/b", O_RDONLY), -1);
    assert_int_equal(errno, ENOENT);
    fd = qs_survey_open(root, "again", O_RDONLY);
    assert_true(fd >= 0);
    close(fd);
    unlink(outside);
}

static void bind(const char *name, const char *path, int64_t mul, int64_t div, int64_t lo, int64_t hi,
                 uint8_t flags)
{
    const struct qs_binding b = {.name = qs_text_of(name),
                                 .path = qs_text_of(path),
                                 .mul = mul,
                                 .div = div,
                                 .lo = lo,
                                 .hi = hi,
                                 .flags = flags};
    qs_probe_bind(&probe, &b);
}

static void reads(const char *name, uint8_t status, int64_t value)
{
    struct qs_port_reading r;
    qs_probe_sensor(&probe, name, 1, &r);
    assert_int_equal(r.status, status);
    assert_int_equal(r.value, value);
}

static void open_probe(void)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    CPU_SET(0, &allowed);
    put("class/thermal/thermal_zone0/type", "tsens\n");
    put("class/thermal/thermal_zone0/temp", "41\n");
    qs_probe_open(&probe, &allowed, root);
}

static void scales_and_bounds(void **state)
{
    (void)state;
    put("temp", "41\n");
    put("khz", "1800000 Hz\n");
    put("bad", "-99.9\n");
    put("text", "n/a\n");
    put("large", "99999999999999999\n");
    open_probe();
    bind("whole", "temp", 1000, 1, -40000, 150000, 0);
    bind("hz", "khz", 1, 1000, 0, 10000000, 0);
    bind("bad", "bad", 1000, 1, -40000, 150000, 0);
    bind("low", "temp", 1, 1, 42, 50, 0);
    bind("edge", "temp", 1, 1, 41, 41, 0);
    bind("text", "text", 1, 1, INT64_MIN, INT64_MAX, 0);
    bind("large", "large", QS_BIND_SCALE_MAX, 1, INT64_MIN, INT64_MAX, 0);
    bind("gone", "nowhere", 1, 1, 0, 1, 0);
    reads("whole", QS_READING_OK, 41000);
    reads("hz", QS_READING_OK, 1800);
    reads("bad", QS_READING_UNREADABLE, 0);
    reads("low", QS_READING_UNREADABLE, 0);
    reads("edge", QS_READING_OK, 41);
    reads("text", QS_READING_UNREADABLE, 0);
    reads("large", QS_READING_UNREADABLE, 0);
    bind("held", "temp", 1, 1, 42, 50, QS_BIND_HELD);
    reads("held", QS_READING_OK, 41); /* it is where it should not be, and says so */
    reads("gone", QS_READING_MISSING, 0);
    put("nowhere", "1");
    reads("gone", QS_READING_OK, 1); /* it has come */
    qs_probe_close(&probe);
}

/* Behind a number its fraction counts, as far as it is scaled; words are told by their place. */
static void fractions_and_words(void **state)
{
    (void)state;
    put("watt", "0.452509\n");
    put("minus", "-1.25\n");
    put("long", "3.1415926535897\n");
    put("point", "7.\n");
    put("status", "Not charging\n");
    open_probe();
    bind("uw", "watt", 1000000, 1, 0, 1000000, 0);
    bind("mw", "watt", 1000, 1, 0, 1000000, 0);
    bind("tenth", "watt", 1000, 100, 0, 1000000, 0);
    bind("whole", "watt", 1, 1, 0, 1000000, 0);
    bind("minus", "minus", 100, 1, -1000, 0, 0);
    bind("long", "long", QS_BIND_SCALE_MAX, 1, 0, INT64_MAX, 0);
    bind("point", "point", 10, 1, 0, 100, 0);
    bind("word", "status\nDischarging\nNot charging", 1, 1, INT64_MIN, INT64_MAX, 0);
    bind("gone", "nothing\nDischarging", 1, 1, INT64_MIN, INT64_MAX, 0);
    reads("uw", QS_READING_OK, 452509);
    reads("mw", QS_READING_OK, 452);
    reads("tenth", QS_READING_OK, 4);
    reads("whole", QS_READING_OK, 0);
    reads("minus", QS_READING_OK, -125);
    reads("long", QS_READING_OK, 3141592653);
    reads("point", QS_READING_OK, 70);
    reads("word", QS_READING_OK, 2);
    reads("gone", QS_READING_MISSING, 0);
    put("status", "Discharging\n");
    reads("word", QS_READING_OK, 1);
    put("status", "Charging\n");
    reads("word", QS_READING_OK, 0);
    put("status", "Disch\n");
    reads("word", QS_READING_OK, 0);
    put("status", "Discharging now\n");
    reads("word", QS_READING_OK, 0);
    qs_probe_close(&probe);
}

/* The host's sensor of a name stands in for our own, as long as it is bound; evidence has it where it should.
 */
static void stands_in_for_our_own(void **state)
{
    static struct qs_port_evidence rows[QS_EVIDENCE_MAX];
    (void)state;
    put("fan", "3");
    put("quiet", "4");
    open_probe();
    size_t own = qs_probe_rows(&probe);
    reads("thermal:tsens", QS_READING_OK, 41);
    bind("thermal:tsens", "class/thermal/thermal_zone0/temp", 1000, 1, 0, 100000, QS_BIND_EVIDENCE);
    bind("fan", "fan", 1, 1, 0, 9, QS_BIND_EVIDENCE);
    bind("quiet", "quiet", 1, 1, 0, 9, 0);
    reads("thermal:tsens", QS_READING_OK, 41000);
    reads("quiet", QS_READING_OK, 4);
    assert_int_equal(qs_probe_rows(&probe), own + 1); /* one more, one for one, one that is none */
    assert_int_equal(qs_probe_evidence(&probe, false, rows, QS_EVIDENCE_MAX), own + 1);
    put("fan", "5");
    assert_int_equal(qs_probe_evidence(&probe, true, rows, QS_EVIDENCE_MAX), own + 1);
    assert_string_equal(rows[own].kind, "fan");
    assert_int_equal(rows[own].status, QS_READING_OK);
    assert_int_equal(rows[own].before, 3);
    assert_int_equal(rows[own].after, 5);
    assert_string_equal(rows[own - 1].kind, "thermal:tsens");
    assert_int_equal(rows[own - 1].before, 41000);
    assert_string_equal(rows[0].kind, "cpu.busy_ticks");
    assert_int_equal(qs_probe_evidence(&probe, false, rows, 3), 3); /* no more than there is room for */
    assert_string_equal(rows[2].kind, "cpu.steal_ticks");
    assert_false(rows[own].held);
    bind("pin", "fan", 2, 1, 7, 8, QS_BIND_HELD | QS_BIND_EVIDENCE);
    memset(rows, 0, sizeof rows);
    assert_int_equal(qs_probe_evidence(&probe, false, rows, QS_EVIDENCE_MAX), own + 2);
    assert_true(rows[own + 1].held);
    assert_int_equal(rows[own + 1].before, 10);
    assert_int_equal(rows[own + 1].lo, 7);
    assert_int_equal(rows[own + 1].hi, 8);
    qs_probe_bind(&probe, NULL);
    reads("thermal:tsens", QS_READING_OK, 41);
    reads("fan", QS_READING_MISSING, 0);
    assert_int_equal(qs_probe_rows(&probe), own);
    for (int i = 0; i < QS_BIND_MAX + 5; i++) {
        bind("fan", "fan", 1, 1, 0, 9, QS_BIND_EVIDENCE);
    }
    assert_int_equal(qs_probe_rows(&probe), own + 1); /* the last of a name */
    qs_probe_close(&probe);
}

static const char *table_of(int key, const char *text)
{
    static char name[16];
    char path[24];
    snprintf(name, sizeof name, "t%d", key);
    snprintf(path, sizeof path, "table%d", key);
    put(path, text);
    bind(name, path, 10, 1, 1800000, 1800000, QS_BIND_TABLE | QS_BIND_EVIDENCE);
    return name;
}

/* What of time_in_state (old: with titles, a devfreq's matrix) is outside of the operating point. */
static void sums_tables(void **state)
{
    static const struct {
        const char *text;
        uint8_t status;
        int64_t value;
    } cases[] = {
        {"600000 70\n1200000 30\n1800000 4711\n", QS_READING_OK, 1000},
        {"600000 70\n1800000 4711", QS_READING_OK, 700}, /* no end of line */
        {"1800000 4711\n", QS_READING_OK, 0},
        {"   From  :   To\n         :  600000 1800000   time(ms)\n"
         "   600000:       0       3        12\n*1800000:       2       0     99999\nTotal transition : 5\n",
         QS_READING_OK, 120},
        {"freq cpu0\n600000 N/A\n1800000 5\n", QS_READING_UNREADABLE, 0},
        {"600000\n1800000 5\n", QS_READING_UNREADABLE, 0}, /* no count */
        {"600000 -5\n1800000 5\n", QS_READING_UNREADABLE, 0},
        {"600000 5x\n1800000 5\n", QS_READING_UNREADABLE, 0},
        {"600000 5\n1200000 5\n", QS_READING_UNREADABLE, 0}, /* the operating point is another table's */
        {"600000 99999999999999999999999\n1800000 5\n", QS_READING_UNREADABLE, 0},
        {"600000 100000000000000000\n1800000 5\n", QS_READING_UNREADABLE, 0},
        {"600000 99999999999999999\n1800000 5\n", QS_READING_OK, 999999999999999990},
        {"99999999999999999999999 5\n1800000 5\n", QS_READING_OK, 50},
        {"\n\n \n", QS_READING_UNREADABLE, 0},
        {"", QS_READING_UNREADABLE, 0},
    };
    (void)state;
    open_probe();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reads(table_of((int)i, cases[i].text), cases[i].status, cases[i].value);
    }
    qs_probe_close(&probe);
}

/* As many lines as fit, one byte more, sums beyond all numbers, and a NUL. */
static void sums_no_hostile_table(void **state)
{
    static char text[QS_PROBE_TEXT_BYTES + 1];
    static const char line[] = "600000 1\n";
    const size_t n = sizeof line - 1;
    const size_t lines = (QS_PROBE_TEXT_BYTES - 2) / n - 1;
    (void)state;
    open_probe();
    memcpy(text, "1800000 0\n", 10);
    for (size_t i = 0; i < lines - 1; i++) {
        memcpy(text + 10 + i * n, line, n);
    }
    reads(table_of(0, text), QS_READING_OK, 10 * (int64_t)(lines - 1));
    memset(text + 10 + (lines - 1) * n, '\n', QS_PROBE_TEXT_BYTES - 11 - (lines - 1) * n);
    assert_int_equal(strlen(text), QS_PROBE_TEXT_BYTES - 1);
    reads(table_of(1, text), QS_READING_UNREADABLE, 0);
    text[0] = '\0';
    for (int i = 0; i < 200; i++) {
        strcat(text, "600000 99999999999999999\n");
    }
    strcat(text, "1800000 0\n");
    reads(table_of(2, text), QS_READING_UNREADABLE, 0);
    FILE *f = fopen("table3", "w");
    assert_non_null(f);
    fwrite("1800000 5\n\0 600000 5\n", 1, 22, f);
    fclose(f);
    bind("nul", "table3", 1, 1, 1800000, 1800000, QS_BIND_TABLE);
    reads("nul", QS_READING_UNREADABLE, 0);
    qs_probe_close(&probe);
}

/* What throttled a Raspberry Pi: a word in hexadecimal, with 0x or without. */
static void takes_bits(void **state)
{
    (void)state;
    put("throttled", "50005\n");
    put("prefixed", " 0xF0004\n");
    put("text", "none\n");
    put("minus", "-1\n");
    put("large", "fffffffffffffffff\n");
    open_probe();
    bind("now", "throttled", 0xf, 1, 0, 0, QS_BIND_BITS | QS_BIND_HELD | QS_BIND_EVIDENCE);
    bind("since", "throttled", 0xf0000, 0x10000, 0, 15, QS_BIND_BITS | QS_BIND_STEADY | QS_BIND_EVIDENCE);
    bind("prefixed", "prefixed", 0xf0000, 0x10000, 0, 15, QS_BIND_BITS);
    bind("beyond", "prefixed", 0xf0000, 0x10000, 0, 14, QS_BIND_BITS);
    bind("text", "text", 1, 1, 0, 15, QS_BIND_BITS);
    bind("minus", "minus", 1, 1, 0, 15, QS_BIND_BITS);
    bind("large", "large", 1, 1, 0, 15, QS_BIND_BITS);
    reads("now", QS_READING_OK, 5);
    reads("since", QS_READING_OK, 5);
    reads("prefixed", QS_READING_OK, 15);
    reads("beyond", QS_READING_UNREADABLE, 0);
    reads("text", QS_READING_UNREADABLE, 0);
    reads("minus", QS_READING_UNREADABLE, 0);
    reads("large", QS_READING_UNREADABLE, 0);
    static struct qs_port_evidence rows[QS_EVIDENCE_MAX];
    size_t n = qs_probe_evidence(&probe, false, rows, QS_EVIDENCE_MAX);
    assert_string_equal(rows[n - 2].kind, "now");
    assert_true(rows[n - 2].held && !rows[n - 2].steady);
    assert_true(rows[n - 1].steady && !rows[n - 1].held);
    qs_probe_close(&probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(finds_what_matches_in_order, enter_root),
        cmocka_unit_test_setup(says_what_stands_there, enter_root),
        cmocka_unit_test_setup(knows_the_kernels_options, enter_root),
        cmocka_unit_test_setup(stays_below_the_root, enter_root),
        cmocka_unit_test_setup(scales_and_bounds, enter_root),
        cmocka_unit_test_setup(fractions_and_words, enter_root),
        cmocka_unit_test_setup(stands_in_for_our_own, enter_root),
        cmocka_unit_test_setup(sums_tables, enter_root),
        cmocka_unit_test_setup(sums_no_hostile_table, enter_root),
        cmocka_unit_test_setup(takes_bits, enter_root),
    };
    return cmocka_run_group_tests_name("survey", tests, enter_folder, leave_folder);
}
