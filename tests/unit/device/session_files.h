/* Cases of the session's test, in a file of their own. */
#ifndef QS_TESTS_UNIT_DEVICE_SESSION_FILES_H
#define QS_TESTS_UNIT_DEVICE_SESSION_FILES_H

void files_are_pushed_between_runs(void **state);
void a_deaf_agent_is_not_lost(void **state);
void answers_about_files_are_judged(void **state);

#define SESSION_FILES_CASES                                                                                  \
    cmocka_unit_test(files_are_pushed_between_runs), cmocka_unit_test(a_deaf_agent_is_not_lost),             \
        cmocka_unit_test(answers_about_files_are_judged)

#endif
