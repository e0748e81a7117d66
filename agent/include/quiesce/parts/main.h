/* What a program ends its main() with. */
#ifndef QUIESCE_PARTS_MAIN_H
#define QUIESCE_PARTS_MAIN_H

#include "quiesce/parts/alone.h"

/* The rest of main(): measures under an agent where there is one, else by hand. The exit code of the program.
 */
QUIESCE_FN int quiesce_main(struct quiesce *q, int argc, char **argv)
{
    const char *descriptor = getenv(QUIESCE_BENCH_ENV), *slash = NULL;
    if (argc > 0) {
        slash = strrchr(argv[0], '/');
        q->program = slash ? slash + 1 : argv[0];
    }
    q->given.benchmark = "";
    return descriptor ? quiesce_i_serve(q, descriptor, argc, argv) : quiesce_i_alone(q, argc, argv);
}

#endif
