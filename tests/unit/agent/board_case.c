#include "board_case.h"

#include <stdio.h>
#include <stdlib.h>

struct qs_vboard *board_of(const char *tree)
{
    static struct qs_vboard board;
    static char text[1 << 17];
    char path[512];
    snprintf(path, sizeof path, QS_TREES "/%s.tree.tsv", tree);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    if (!qs_vboard_init(&board, text, n)) {
        fail_msg("%s: %s", tree, board.why);
    }
    return &board;
}

void wait_ms(struct qs_vboard *board, int64_t ms)
{
    qs_vboard_on_time(board, board->now_us + ms * 1000);
}

const char *get(struct qs_vboard *board, const char *path)
{
    static char text[QS_VBOARD_TEXT_BYTES];
    int n = qs_vboard_read(board, path, 0, text, sizeof text);
    if (n < 0) {
        fail_msg("%s cannot be read: %s", path, strerror(-n));
    }
    assert_int_equal(text[n - 1], '\n');
    text[n - 1] = '\0';
    return text;
}

int64_t get_number(struct qs_vboard *board, const char *path)
{
    return strtoll(get(board, path), NULL, 10);
}

int put(struct qs_vboard *board, const char *path, const char *text)
{
    return -qs_vboard_write(board, path, 0, text, strlen(text));
}

int try_get(struct qs_vboard *board, const char *path)
{
    char text[QS_VBOARD_TEXT_BYTES];
    int n = qs_vboard_read(board, path, 0, text, sizeof text);
    return n < 0 ? -n : 0;
}

void tell(struct qs_vboard *board, const char *line)
{
    if (!qs_vboard_command(board, line)) {
        fail_msg("%s: %s", line, board->why);
    }
}

static int64_t reported(struct qs_vboard *board, enum qs_vboard_report report, const char *name)
{
    static char text[QS_VBOARD_REPORT_BYTES];
    size_t n = strlen(name);
    qs_vboard_report(board, report, text, sizeof text);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, name, n) == 0 && line[n] == ' ') {
            return strtoll(line + n, NULL, 10);
        }
    }
    fail_msg("%s is not among: %s", name, text);
    return 0;
}

int64_t khz(struct qs_vboard *board, const char *clock)
{
    return reported(board, QS_VBOARD_KHZ, clock);
}

int64_t mc(struct qs_vboard *board, const char *zone)
{
    return reported(board, QS_VBOARD_MC, zone);
}
