/* `quiesce run`: from options to a job document. */
#ifndef QS_CTL_RUN_RUN_H
#define QS_CTL_RUN_RUN_H

#include <jansson.h>

#include "ctl/commands/command.h"
#include "ctl/options/opt.h"
#include "ctl/options/split.h"

enum { QS_RUN_ARMS_MAX = 100, QS_RUN_VALUES_MAX = 1000, QS_RUN_PARAMS_MAX = 16 };

struct qs_run_param {
    char *name;
    struct qs_words values;
    size_t arg; /* of the option that gave it */
};

struct qs_run_command {
    char *name;           /* of the arm */
    char *text;           /* as it was given */
    struct qs_words argv; /* with templates: {p} stands for a parameter, "{{" for a brace */
    size_t arg, skip;     /* where it stands on the command line */
    bool words;           /* given after "--": never split */
};

struct qs_run_push {   /* a file of this machine that goes along (push.c); all owned */
    char *path, *name; /* here; in the run's directory */
    bool executable;   /* of the build of one command's arm, or of all; else an input of the benchmark */
    size_t command;    /* SIZE_MAX: of all */
    char sha256[65];
    int64_t bytes;
};

struct qs_run_line { /* all owned */
    struct qs_run_command *commands;
    size_t command_count;
    struct qs_run_param params[QS_RUN_PARAMS_MAX];
    size_t param_count;
    bool reference; /* the first command is --reference's */
    bool shell;
    struct qs_words shell_argv; /* what -c and the text are added to */
    bool on;                    /* for another device than this machine */
    struct qs_run_push *pushes;
    size_t push_count;
};

/* Reads commands, names, parameters. False with a usage error in `problem`. */
bool qs_run_read(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem);
void qs_run_done(struct qs_run_line *line);

/* Whether it is a word that only a shell understands. */
bool qs_run_is_builtin(const char *name);

/* params.c: --parameter-scan and --parameter-list. */
bool qs_run_read_params(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem);
/* Appends text with every brace doubled that does not begin a parameter's {name}. */
void qs_run_template(const struct qs_run_line *line, const char *text, struct qs_buf *out);
/* Whether text has {name}. */
bool qs_run_uses(const char *text, const char *name);

/* push.c: what goes along (--on), whose words become its names there. */
bool qs_run_read_pushes(const struct qs_args *args, struct qs_run_line *line, struct qs_buf *problem);
void qs_run_pushes_done(struct qs_run_line *line);
/* The name there of a file that goes along; else the path itself. Borrowed. */
const char *qs_run_pushed(const struct qs_run_line *line, const char *path);
/* False: a path is not UTF-8. */
bool qs_run_add_pushes(const struct qs_run_line *line, json_t *benchmark, json_t *arms);
/* {files: [{path}]}, as qs_submit_send takes them; owned. */
json_t *qs_run_push_list(const struct qs_run_line *line);
/* Appends "takes along ./old (14 KiB), notes.txt (1.2 MiB)"; nothing where there are none. */
void qs_run_say_pushes(const struct qs_run_line *line, struct qs_buf *out);

/* doc.c: the job document (owned), or NULL with a usage error in `problem`. `dir`: the caller's working
 * directory; env: "K=V", ends with NULL. Pure. */
json_t *qs_run_document(const struct qs_args *args, const struct qs_run_line *line, const char *dir,
                        char *const *env, struct qs_buf *problem);
/* hooks.c: adds setup, prepare, conclude, cleanup to the benchmark or to each arm. */
bool qs_run_add_hooks(const struct qs_args *args, const struct qs_run_line *line, json_t *benchmark,
                      json_t *arms, struct qs_buf *problem);
/* output.c: what --output and --show-output say of the benchmark; the caller's file is looked for. */
bool qs_run_add_output(const struct qs_args *args, const struct qs_run_line *line, json_t *benchmark,
                       struct qs_buf *problem);
/* stream.c: what mode stream needs; nothing without --stream. After the mode. */
bool qs_run_add_stream(const struct qs_args *args, const struct qs_run_line *line, json_t *benchmark,
                       struct qs_buf *problem);
/* plan.c: plan, compare and conditions; with --on (aim.h) those that every device has. */
bool qs_run_add_plan(const struct qs_args *args, json_t *job, struct qs_buf *problem);
/* What a gate waits for, so long at most, and goes on without, marked. Owned. */
json_t *qs_run_gate_line(const char *sensor, const char *below, const char *patience);

/* A list of template words as JSON; NULL where a word is not UTF-8. */
json_t *qs_run_words_json(const struct qs_run_line *line, const struct qs_words *words);

/* The options of `quiesce run`. */
extern const struct qs_opt qs_run_options[];

#endif
