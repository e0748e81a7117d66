/* The samples of the messages that look for what a device has, and change it for a while. */
#ifndef QS_TESTS_PROTO_SAMPLES_CONTROL_H
#define QS_TESTS_PROTO_SAMPLES_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qs_writer;

#define CONTROL_SAMPLE(name)                                                                                 \
    bool sample_put_##name(struct qs_writer *w);                                                             \
    int sample_recode_##name(const uint8_t *payload, size_t n, struct qs_writer *w)
CONTROL_SAMPLE(survey);
CONTROL_SAMPLE(surveyed);
CONTROL_SAMPLE(bind);
CONTROL_SAMPLE(tune);
CONTROL_SAMPLE(tuned);
CONTROL_SAMPLE(restore);
CONTROL_SAMPLE(restored);
CONTROL_SAMPLE(load);
CONTROL_SAMPLE(loaded);
#undef CONTROL_SAMPLE
bool sample_put_bound(struct qs_writer *w);

#endif
