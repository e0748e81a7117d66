/* What a test does to the board: its surroundings, its load, and files that misbehave. The words:
 * tests/beds/board/README.md. */
#include "sim/board/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int number;
    const char *name;
} errors[] = {{EACCES, "EACCES"}, {EAGAIN, "EAGAIN"}, {EBUSY, "EBUSY"},   {EINVAL, "EINVAL"},
              {EIO, "EIO"},       {ENODEV, "ENODEV"}, {ENOENT, "ENOENT"}, {ENOSPC, "ENOSPC"},
              {EPERM, "EPERM"},   {EROFS, "EROFS"}};

const char *qs_vboard_errno_name(int number)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].number == number) {
            return errors[i].name;
        }
    }
    return number ? "?" : "ok";
}

static int errno_number(const char *name)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (strcmp(errors[i].name, name) == 0) {
            return errors[i].number;
        }
    }
    return 0;
}

struct qs_vboard_fault *qs_vboard_fault(struct qs_vboard *board, const char *path,
                                        enum qs_vboard_fault_kind kind)
{
    for (size_t i = 0; i < board->fault_count; i++) {
        if (board->faults[i].kind == kind && strcmp(board->faults[i].path, path) == 0) {
            return &board->faults[i];
        }
    }
    return NULL;
}

int64_t qs_vboard_slow_ms(const struct qs_vboard *board, const char *path)
{
    char real[QS_VBOARD_PATH_BYTES];
    if (!qs_vboard_resolve(board, path, real, sizeof real)) {
        return 0;
    }
    for (size_t i = 0; i < board->fault_count; i++) {
        if (board->faults[i].kind == QS_VFAULT_SLOW && strcmp(board->faults[i].path, real) == 0) {
            return board->faults[i].n;
        }
    }
    return 0;
}

void qs_vboard_faults_step(struct qs_vboard *board)
{
    for (size_t i = 0; i < board->fault_count; i++) {
        struct qs_vboard_fault *fault = &board->faults[i];
        if (fault->kind == QS_VFAULT_RESET && fault->due_us <= board->now_us) {
            fault->due_us += fault->n * 1000;
            (void)qs_vboard_apply(board, qs_vboard_node(board, fault->path), fault->text, NULL);
        }
    }
}

enum { WORDS_MAX = 5 };

struct line {
    char *words[WORDS_MAX + 1];
    size_t count;
};

static bool wrong(struct qs_vboard *board, const char *form, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(struct qs_vboard *board, const char *form, ...)
{
    va_list args;
    va_start(args, form);
    vsnprintf(board->why, sizeof board->why, form, args);
    va_end(args);
    return false;
}

/* Degrees with up to three decimals, in thousandths. */
static bool degrees(const char *text, int64_t *mc)
{
    char *end;
    double value = strtod(text, &end);
    *mc = (int64_t)(value * 1000 + (value < 0 ? -0.5 : 0.5));
    return end != text && *end == '\0' && value > -300 && value < 300;
}

static bool do_ambient(struct qs_vboard *board, const struct line *line)
{
    return degrees(line->words[1], &board->ambient_mc) ||
           wrong(board, "ambient: %.40s is no temperature", line->words[1]);
}

static bool do_load(struct qs_vboard *board, const struct line *line)
{
    int64_t percent = 0;
    bool rest = strcmp(line->words[1], "rest") == 0;
    bool any = false;
    if (!rest && (!qs_vboard_number(line->words[1], &percent) || percent < 0 || percent > 100)) {
        return wrong(board, "load: %.40s is neither `rest` nor 0 to 100", line->words[1]);
    }
    for (size_t i = 0; i < board->clock_count; i++) {
        struct qs_vboard_clock *clock = &board->clocks[i];
        if (line->count < 3 || strcmp(line->words[2], clock->name) == 0) {
            clock->load_ppm = rest ? clock->rest_ppm : (uint32_t)percent * 10000;
            any = true;
        }
    }
    qs_vboard_settle(board);
    return any || wrong(board, "load: there is no clock of this name");
}

static bool do_heat(struct qs_vboard *board, const struct line *line)
{
    int64_t mc;
    bool any = false;
    if (!degrees(line->words[1], &mc)) {
        return wrong(board, "heat: %.40s is no temperature", line->words[1]);
    }
    for (size_t i = 0; i < board->zone_count; i++) {
        struct qs_vboard_zone *zone = &board->zones[i];
        bool is = line->count < 3 ? zone->scope == QS_VSCOPE_CPU || zone->scope == QS_VSCOPE_GPU
                                  : strcmp(line->words[2], zone->type) == 0;
        if (is) {
            zone->heat_nc = mc * 1000000;
            any = true;
        }
    }
    return any || wrong(board, "heat: there is no zone of this type");
}

static void forget(struct qs_vboard *board, size_t i)
{
    board->faults[i] = board->faults[--board->fault_count];
}

static bool do_heal(struct qs_vboard *board, const struct line *line)
{
    char path[QS_VBOARD_PATH_BYTES];
    char real[QS_VBOARD_PATH_BYTES];
    if (line->count < 2) {
        board->fault_count = 0;
        return true;
    }
    snprintf(path, sizeof path, "sys/%.180s", line->words[1]);
    if (!qs_vboard_resolve(board, path, real, sizeof real)) {
        return wrong(board, "heal: %.100s leads nowhere", line->words[1]);
    }
    size_t before = board->fault_count;
    for (size_t i = board->fault_count; i-- > 0;) {
        if (strcmp(board->faults[i].path, real) == 0) {
            forget(board, i);
        }
    }
    return board->fault_count < before || wrong(board, "heal: %.100s has no fault", line->words[1]);
}

static const struct {
    const char *word;
    uint8_t kind;
    size_t count; /* words of the line */
} file_faults[] = {{"refuse", QS_VFAULT_REFUSE, 3}, {"ignore", QS_VFAULT_IGNORE, 2},
                   {"delay", QS_VFAULT_DELAY, 3},   {"slow", QS_VFAULT_SLOW, 3},
                   {"inert", QS_VFAULT_INERT, 2},   {"reset", QS_VFAULT_RESET, 4},
                   {"vanish", QS_VFAULT_VANISH, 2}, {"stuck", QS_VFAULT_STUCK, 2},
                   {"lie", QS_VFAULT_LIE, 4},       {"lie", QS_VFAULT_LIE, 5}};

/* "lie PATH with -99.9 | EAGAIN | constant TEXT | jump N" */
static bool read_lie(struct qs_vboard *board, const struct line *line, struct qs_vboard_fault *fault)
{
    const char *what = line->words[3];
    fault->n = errno_number(what);
    fault->kind = fault->n ? QS_VFAULT_LIE_FAIL : QS_VFAULT_LIE;
    snprintf(fault->text, sizeof fault->text, "%.100s", line->count == 5 ? line->words[4] : what);
    if (strcmp(line->words[2], "with") != 0) {
        return wrong(board, "lie: it is `lie PATH with WHAT`");
    }
    if (strcmp(what, "jump") == 0) {
        fault->kind = QS_VFAULT_LIE_JUMP;
        return (line->count == 5 && qs_vboard_number(line->words[4], &fault->n)) ||
               wrong(board, "lie: jump needs a number");
    }
    return line->count == (strcmp(what, "constant") == 0 ? 5 : 4) ||
           wrong(board, "lie: only `constant` has a text");
}

static bool read_arguments(struct qs_vboard *board, const struct line *line, struct qs_vboard_fault *fault)
{
    const char *last = line->words[line->count - 1];
    int16_t node = qs_vboard_node(board, fault->path);
    if (fault->kind == QS_VFAULT_LIE) {
        return read_lie(board, line, fault);
    }
    if (fault->kind == QS_VFAULT_REFUSE) {
        fault->n = errno_number(last);
        return fault->n || wrong(board, "refuse: %.40s is no error that a kernel gives here", last);
    }
    if (fault->kind == QS_VFAULT_STUCK || fault->kind == QS_VFAULT_RESET) {
        char text[QS_VBOARD_TEXT_BYTES];
        qs_vboard_show(board, &board->nodes[node], text, sizeof text);
        snprintf(fault->text, sizeof fault->text, "%.127s", text);
    }
    if (fault->kind == QS_VFAULT_RESET && strcmp(line->words[2], "every") != 0) {
        return wrong(board, "reset: it is `reset PATH every MS`");
    }
    if (line->count > 2 && (!qs_vboard_number(last, &fault->n) || fault->n < 1 || fault->n > 86400000)) {
        return wrong(board, "%s: %.40s is no time in milliseconds", line->words[0], last);
    }
    fault->due_us = board->now_us + fault->n * 1000;
    return true;
}

static bool do_file(struct qs_vboard *board, const struct line *line)
{
    struct qs_vboard_fault fault = {.kind = QS_VFAULT_COUNT};
    char path[QS_VBOARD_PATH_BYTES];
    bool known = false;
    for (size_t i = 0; i < sizeof file_faults / sizeof file_faults[0]; i++) {
        bool is = strcmp(file_faults[i].word, line->words[0]) == 0;
        known |= is;
        fault.kind = is && file_faults[i].count == line->count ? file_faults[i].kind : fault.kind;
    }
    if (fault.kind == QS_VFAULT_COUNT) {
        return known ? wrong(board, "%s: %zu words are not what it takes", line->words[0], line->count)
                     : wrong(board, "%.40s: there is no such word", line->words[0]);
    }
    snprintf(path, sizeof path, "sys/%.180s", line->words[1]);
    const struct qs_vboard_node *node;
    if (!qs_vboard_resolve(board, path, fault.path, sizeof fault.path) ||
        qs_vboard_look(board, fault.path, &node) == QS_VBOARD_NOTHING ||
        (!node && fault.kind != QS_VFAULT_VANISH)) {
        return wrong(board, "%s: there is no file %.100s", line->words[0], line->words[1]);
    }
    if (!read_arguments(board, line, &fault)) {
        return false;
    }
    for (size_t i = 0; i < line->count; i++) {
        size_t n = strlen(fault.asked);
        snprintf(fault.asked + n, sizeof fault.asked - n, "%s%s", i ? " " : "", line->words[i]);
    }
    struct qs_vboard_fault *old = qs_vboard_fault(board, fault.path, (enum qs_vboard_fault_kind)fault.kind);
    for (size_t i = 0; i < board->fault_count; i++) { /* one lie a file */
        bool lies = fault.kind >= QS_VFAULT_STUCK && board->faults[i].kind >= QS_VFAULT_STUCK;
        old = lies && strcmp(board->faults[i].path, fault.path) == 0 ? &board->faults[i] : old;
    }
    if (!old && board->fault_count == QS_VBOARD_FAULTS_MAX) {
        return wrong(board, "there are %d faults already", QS_VBOARD_FAULTS_MAX);
    }
    *(old ? old : &board->faults[board->fault_count++]) = fault;
    return true;
}

static const struct {
    const char *word;
    bool (*act)(struct qs_vboard *board, const struct line *line);
    size_t least, most; /* words */
} commands[] = {
    {"ambient", do_ambient, 2, 2}, {"load", do_load, 2, 3}, {"heat", do_heat, 2, 3}, {"heal", do_heal, 1, 2}};

bool qs_vboard_command(struct qs_vboard *board, const char *text)
{
    char copy[QS_VBOARD_PATH_BYTES * 2];
    struct line line = {.count = 0};
    board->why[0] = '\0';
    if (strlen(text) >= sizeof copy) {
        return wrong(board, "the line is too long");
    }
    memcpy(copy, text, strlen(text) + 1);
    for (char *p = copy + strspn(copy, " \n"); *p; p += strspn(p, " \n")) {
        if (line.count == WORDS_MAX) {
            return wrong(board, "the line has too many words");
        }
        line.words[line.count++] = p;
        p += strcspn(p, " \n");
        if (*p) {
            *p++ = '\0';
        }
    }
    for (size_t i = 0; line.count > 0 && i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].word, line.words[0]) == 0) {
            return line.count >= commands[i].least && line.count <= commands[i].most
                       ? commands[i].act(board, &line)
                       : wrong(board, "%s: %zu words are not what it takes", commands[i].word, line.count);
        }
    }
    return line.count == 0 || do_file(board, &line);
}

size_t qs_vboard_show_faults(const struct qs_vboard *board, char *text, size_t cap)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < board->fault_count && used < cap; i++) {
        int n = snprintf(text + used, cap - used, "%s\n", board->faults[i].asked);
        used += n > 0 ? (size_t)n : 0;
    }
    return used < cap ? used : cap - 1;
}
