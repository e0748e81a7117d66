/* A case of the session's test, in a file of its own. */
#ifndef QS_TESTS_UNIT_DEVICE_SESSION_FILES_H
#define QS_TESTS_UNIT_DEVICE_SESSION_FILES_H

void files_are_pushed_between_runs(void **state);
void answers_about_files_are_judged(void **state);

#endif
