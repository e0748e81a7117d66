/* Calls that are refused: the test is linked with --wrap for each of them (meson.build). */
#ifndef QS_TESTS_UNIT_BASE_REFUSALS_H
#define QS_TESTS_UNIT_BASE_REFUSALS_H

/* The nth call of this name from now on fails with this error. NULL: none. */
void refuse(const char *name, int nth, int error);
/* Fails the test where it was not asked for. */
void assert_refused(void);

struct kills {
    int groups; /* one of them, with SIGKILL */
    int others; /* our own group, or everybody: not done */
};

/* Those since the last time. */
struct kills kills_since(void);

int open_descriptors(void);

#endif
