/* `quiesce ablate`: a job without one of its conditions at a time. */
#include "ctl/commands/command.h"

static const struct qs_opt options[] = {
    {.name = "no-wait", .help = "Only submit the job: `quiesce watch` follows it.", .heading = "Options"},
    {.name = "check", .help = "Only check the file, and say what would be left out; send nothing."},
    {.name = "key",
     .values = "KEY",
     .help = "Idempotency key: submitting with the same key again gives the same job."},
    {0}};

static int run(struct qs_ctl *ctl)
{
    return qs_submit_file(ctl, true);
}

const struct qs_command qs_command_ablate = {
    .name = "ablate",
    .summary = "Find out which parts of a job's conditions a device needs",
    .usage = "[OPTIONS] FILE",
    .about =
        "FILE is a job, as for submit. Its baseline is measured under all of its conditions, and in turn "
        "under all but one of them: a control, a line of the gate, a bound, a part of the stop rule. "
        "They are arms of one job: each block has a run of each, in drawn order. For each part is told what "
        "leaving it out does to the median, to precision and to the spread from run to run, and "
        "what device time it saves. The same as `ablate: true` in the file.",
    .options = options,
    .examples = "quiesce ablate job.yaml\nquiesce ablate --check job.yaml\n"
                "quiesce ablate --json job.yaml > worth.json",
    .least_words = 1,
    .most_words = 1,
    .run = run};
