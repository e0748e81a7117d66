/* Cases of test_session about runs of mode stream. */
#ifndef QS_TESTS_UNIT_DEVICE_SESSION_STREAM_H
#define QS_TESTS_UNIT_DEVICE_SESSION_STREAM_H

void a_document_comes_before_its_row(void **state);
void a_document_comes_again_with_its_window(void **state);
void a_document_that_does_not_fit_ends_the_link(void **state);

#define SESSION_STREAM_CASES                                                                                 \
    cmocka_unit_test(a_document_comes_before_its_row),                                                       \
        cmocka_unit_test(a_document_comes_again_with_its_window),                                            \
        cmocka_unit_test(a_document_that_does_not_fit_ends_the_link)

#endif
