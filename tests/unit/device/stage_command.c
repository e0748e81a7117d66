/* Commands of this machine on the stage: linked in place of the real ones, they answer a millisecond later
 * what the test says. */
#include "stage.h"

#include "base/command.h"
#include "base/mem.h"

const char *(*stage_command)(const char *name, const char *input);
unsigned stage_commands, stage_commands_running;

struct qs_command_run {
    qs_command_fn *fn;
    void *user;
    struct qs_timer *timer;
    char *name, *input;
    bool answering, stopped;
};

static void release(struct qs_command_run *run)
{
    stage_commands_running -= run->stopped ? 0 : 1;
    qs_timer_stop(run->timer);
    free(run->name);
    free(run->input);
    free(run);
}

static void answer(void *user)
{
    struct qs_command_run *run = user;
    run->timer = NULL;
    run->answering = true;
    const char *output = stage_command(run->name, run->input);
    if (run->stopped) {
        release(run);
        return;
    }
    qs_command_fn *fn = run->fn;
    void *fn_user = run->user;
    struct qs_err err = QS_ERR_INIT;
    release(run);
    if (!output)
        qs_fail(&err, QS_E_COMMAND, "it ended with exit code 3");
    fn(output ? NULL : &err, output ? output : "", output ? strlen(output) : 0, fn_user);
}

struct qs_command_run *qs_command_start(struct qs_loop *loop, const struct qs_command_spec *spec,
                                        qs_command_fn *fn, void *user, struct qs_err *err)
{
    (void)err;
    struct qs_command_run *run = qs_calloc(1, sizeof *run);
    stage_commands++;
    stage_commands_running++;
    *run = (struct qs_command_run){
        .fn = fn, .user = user, .name = qs_strdup(spec->argv[0]), .input = qs_strdup(spec->input)};
    run->timer = qs_timer_start(loop, STAGE_STEP_NS, answer, run);
    return run;
}

void qs_command_stop(struct qs_command_run *run)
{
    if (run && run->answering) {
        run->stopped = true;
        stage_commands_running--;
    } else if (run) {
        release(run);
    }
}
