/* quiesce/bench.h: makes a program a benchmark. C99 or C++11 and later, Linux and Android, no library but
 * libc.
 *
 * The first part is what the program shares with the agent that measures it: a layout of fixed-width fields
 * without pointers, the same for 32 and 64 bits. The second is the interface for the author of a benchmark.
 * QUIESCE_BENCH_LAYOUT_ONLY leaves the second part out.
 *
 * Quiesce's source tree has this header in parts; `./dev bench.h` joins them into the one file that programs
 * copy. */
#ifndef QUIESCE_BENCH_H
#define QUIESCE_BENCH_H

/* Under -std=c99 the C library shows its clock only to those who ask before the first of its headers. */
#if !defined(QUIESCE_BENCH_LAYOUT_ONLY) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "quiesce/parts/layout.h"
#include "quiesce/parts/shared.h"

#ifndef QUIESCE_BENCH_LAYOUT_ONLY
#include "quiesce/parts/author.h"
#include "quiesce/parts/declare.h"
#include "quiesce/parts/window.h"
#include "quiesce/parts/names.h"
#include "quiesce/parts/arguments.h"
#include "quiesce/parts/commands.h"
#include "quiesce/parts/session.h"
#include "quiesce/parts/tune.h"
#include "quiesce/parts/report.h"
#include "quiesce/parts/help.h"
#include "quiesce/parts/alone.h"
#include "quiesce/parts/main.h"
#endif
#endif
