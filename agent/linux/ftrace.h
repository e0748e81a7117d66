/* The kernel's own tracer, as a program of its own: `quiesce-agent --ftrace OUTPUT SETTING...` */
#ifndef QS_LINUX_FTRACE_H
#define QS_LINUX_FTRACE_H

/* Makes an instance of tracefs, writes each SETTING ("file=value", in this order) into it, records until
 * SIGINT or SIGTERM, copies its trace to OUTPUT as far as that may grow, and removes the instance. Returns
 * the exit code; what went wrong is said on standard error. */
int qs_ftrace_main(char **argv);
/* Removes instances whose program is gone (SIGKILL leaves them). */
void qs_ftrace_sweep(void);

#endif
