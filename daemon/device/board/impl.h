/* Private to board: the work of making one. */
#ifndef QS_DEVICE_BOARD_IMPL_H
#define QS_DEVICE_BOARD_IMPL_H

#include "config/profile/tool.h"
#include "config/profile/wish.h"
#include "device/board/board.h"

struct qs_cpu_set {
    uint64_t bits[QS_BOARD_CPUS_MAX / 64];
};
struct qs_work {
    struct qs_board *board;            /* filled */
    const struct qs_survey_row **rows; /* by path; those that are missing left out */
    size_t row_count;
    const struct qs_profile *layers[QS_PROFILES_MAX]; /* that the device matches, the most special first */
    size_t layer_count;
    struct qs_strings taken;    /* folders of domains, in the order of bytes */
    struct qs_strings replaced; /* patterns of those that show the same, each once */
    struct qs_cpu_set covered;  /* processors that have a domain */
    size_t switches_left;       /* for which there was no room */
};

bool qs_glob(const char *pattern, const char *path);      /* within the parts of a path */
bool qs_glob_type(const char *pattern, const char *text); /* in any case, over all of it */
bool qs_strings_have(const struct qs_strings *s, const char *text);

/* NULL: the survey has no such file. `file` may be NULL: NULL then. */
const struct qs_survey_row *qs_work_find(const struct qs_work *w, const char *path);
const struct qs_survey_row *qs_work_in(const struct qs_work *w, const char *folder, const char *file);
/* Files that fit the pattern, in the order of numbers in their names. */
void qs_work_files(const struct qs_work *w, const char *pattern, struct qs_strings *ret);
/* Folders with files below them, in that order, each once. */
void qs_work_folders(const struct qs_work *w, const struct qs_strings *each, struct qs_strings *ret);
bool qs_work_avoided(const struct qs_work *w, const char *path);
/* Notes a row's key, and says whether an earlier layer had one of it. */
bool qs_work_seen(struct qs_strings *keys, const char *key);
void qs_work_note(struct qs_work *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The name of a row for what it found: its placeholders filled in, 1 .. 56 bytes of printable ASCII. */
char *qs_work_name(const char *form, const struct qs_strings *each, const char *folder, const char *type,
                   const char *file);
/* The same, or followed by .2, .3 ... where a name of the list is that: members are `each_bytes` apart, and
 * each begins with its name. Takes over `name`. */
char *qs_work_unique(char *name, const void *list, size_t count, size_t each_bytes);

/* What a file says. False or NULL where it could not be read, or says something else. Text: its first line,
 * at most 200 bytes, printable. */
bool qs_row_whole(const struct qs_survey_row *row, int64_t *ret);
char *qs_row_text(const struct qs_survey_row *row);
/* Numbers from 1 up to 10^15, as many as a domain can have: the first of each line where there are several
 * lines, else all. Appended; what was cut at the end of the survey's room is no number. */
void qs_row_numbers(const struct qs_survey_row *row, struct qs_board_counts *ret);
void qs_counts_sort(struct qs_board_counts *counts, bool repeats); /* ascending; else each once */
/* Words between blanks; *ret_chosen (owned, or NULL) is the one in square brackets. */
void qs_row_words(const struct qs_survey_row *row, struct qs_strings *ret, char **ret_chosen);
bool qs_row_cpus(const struct qs_survey_row *row, struct qs_cpu_set *ret);
char *qs_cpu_set_text(const struct qs_cpu_set *set); /* "0-3,6"; NULL where it is empty */
bool qs_cpu_set_has(const struct qs_cpu_set *set, size_t cpu);
void qs_cpu_set_add(struct qs_cpu_set *set, size_t cpu);
bool qs_cpu_set_within(const struct qs_cpu_set *set, const struct qs_cpu_set *all);
bool qs_cpu_set_read(const char *text, size_t n, struct qs_cpu_set *ret);

void qs_work_domains(struct qs_work *w);
void qs_work_sensors(struct qs_work *w);
void qs_work_commands(struct qs_work *w); /* after the sensors */
void qs_work_switches(struct qs_work *w);
void qs_work_clusters(struct qs_work *w);
struct qs_pins;
/* switches.c: items and choices for everything but frequencies and governors. */
bool qs_pins_switches(const struct qs_board *board, const struct qs_wishes *wishes, bool settled,
                      struct qs_pins *pins, struct qs_err *err);
void qs_pins_choice(struct qs_pins *pins, const struct qs_board_domain *domain, size_t khz, char *owned_text);
/* How many kHz a number of a file is; of RAW, the number. */
size_t qs_domain_khz(enum qs_domain_unit unit, size_t raw);

#endif
