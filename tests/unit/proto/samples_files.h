/* The samples of the messages that push files. */
#ifndef QS_TESTS_PROTO_SAMPLES_FILES_H
#define QS_TESTS_PROTO_SAMPLES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qs_writer;

#define FILES_SAMPLE(name)                                                                                   \
    bool sample_put_##name(struct qs_writer *w);                                                             \
    int sample_recode_##name(const uint8_t *payload, size_t n, struct qs_writer *w)
FILES_SAMPLE(have);
FILES_SAMPLE(having);
FILES_SAMPLE(put);
FILES_SAMPLE(put_data);
FILES_SAMPLE(put_at);
FILES_SAMPLE(stage);
FILES_SAMPLE(staged);
FILES_SAMPLE(clean);
FILES_SAMPLE(cleaned);
FILES_SAMPLE(read);
FILES_SAMPLE(readings);
#undef FILES_SAMPLE

#endif
