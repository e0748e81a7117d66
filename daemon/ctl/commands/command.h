/* The commands of `quiesce`: one file each, one row each in the table of commands.c. */
#ifndef QS_CTL_COMMANDS_COMMAND_H
#define QS_CTL_COMMANDS_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "ctl/layout/face.h"
#include "ctl/options/opt.h"

enum qs_exit_code {
    QS_EXIT_OK = 0,
    QS_EXIT_JOB_FAILED = 1,
    QS_EXIT_USAGE = 2,
    QS_EXIT_INFRASTRUCTURE = 3,
    QS_EXIT_PRECONDITION = 4,
    QS_EXIT_REGRESSION = 5,
    QS_EXIT_INTERRUPTED = 130 /* by Ctrl-C, as shells count it */
};

struct qs_command;

struct qs_ctl { /* what a command works with; all borrowed */
    const struct qs_command *command;
    const struct qs_args *args;
    const char *self; /* argv[0] */
    FILE *out, *err;
    struct qs_face face;     /* of out */
    struct qs_face err_face; /* of err */
    bool json;
    bool live; /* err is a terminal: one line may be redrawn */
};

struct qs_command {
    const char *name;
    const char *summary; /* one line without a full stop */
    const char *usage;   /* after "quiesce NAME ", lines separated by \n */
    const char *about;   /* a paragraph for --help, or NULL */
    const struct qs_opt *options;
    const char *examples;           /* lines, each a command or a comment */
    int least_words, most_words;    /* arguments before "--" that are no options; -1: any number */
    bool takes_rest;                /* whether anything may follow "--" */
    int (*run)(struct qs_ctl *ctl); /* returns enum qs_exit_code */
};

extern const struct qs_command qs_command_run, qs_command_submit, qs_command_jobs, qs_command_show,
    qs_command_watch, qs_command_cancel, qs_command_devices, qs_command_characterize, qs_command_ablate,
    qs_command_builds, qs_command_compare, qs_command_analyze, qs_command_history, qs_command_reproduce,
    qs_command_version, qs_command_help;

/* characterize.c: the same as `quiesce characterize DEVICE`. */
int qs_characterize(struct qs_ctl *ctl, const char *device);
/* `quiesce devices probe DEVICE`; the same within another command, whose output it leaves alone. */
int qs_probe(struct qs_ctl *ctl, const char *device);
struct qs_http;
int qs_probe_with(struct qs_ctl *ctl, struct qs_http *http, const char *device);
/* The same for a job that only looks at what the device has, and tries nothing. */
int qs_look_with(struct qs_ctl *ctl, struct qs_http *http, const char *device);
/* add.c, enroll.c: `quiesce devices add DEVICE`, `quiesce devices enroll DEVICE`. */
int qs_device_add(struct qs_ctl *ctl, const char *device);
int qs_device_enroll(struct qs_ctl *ctl, const char *device);
/* say.c: `quiesce devices hold | release | note | tag DEVICE ...` */
int qs_device_say(struct qs_ctl *ctl, const char *device);

/* submit.c: sends the job file that the arguments name; ablate: without one of its conditions at a time. */
int qs_submit_file(struct qs_ctl *ctl, bool ablate);

/* All commands in the order of the help, ends with NULL. */
extern const struct qs_command *const qs_commands[];
extern const struct qs_opt qs_common_options[];
/* For options of several commands. */
extern const char *const qs_style_words[], *const qs_unit_words[], *const qs_sort_words[],
                                                                       *const qs_fail_words[];

const struct qs_command *qs_command_find(const char *name);
/* Appends the overview, or the help of one command, at most face->width wide. */
void qs_help_overview(const struct qs_face *face, struct qs_buf *out);
void qs_help_command(const struct qs_face *face, const struct qs_command *command, struct qs_buf *out);

/* The whole program. argv[0] is its own name. */
int qs_ctl_main(int argc, char **argv, FILE *out, FILE *err);

#endif
