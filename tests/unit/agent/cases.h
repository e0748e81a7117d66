/* Test cases of the session that live in files of their own, so that one program sees every row of the table.
 */
#ifndef QS_TESTS_AGENT_CASES_H
#define QS_TESTS_AGENT_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

extern const struct CMUnitTest cases_talk[], cases_gate[], cases_window[], cases_measure[], cases_keep[],
    cases_harness[], cases_files[], cases_stream[], cases_trace[], cases_faults[], cases_memory[],
    cases_program[], cases_control[], cases_tune[], cases_load[], cases_hold[], cases_spool[];
extern const size_t cases_talk_count, cases_gate_count, cases_window_count, cases_measure_count,
    cases_keep_count, cases_harness_count, cases_files_count, cases_stream_count, cases_trace_count,
    cases_faults_count, cases_memory_count, cases_program_count, cases_control_count, cases_tune_count,
    cases_load_count, cases_hold_count, cases_spool_count;

#endif
