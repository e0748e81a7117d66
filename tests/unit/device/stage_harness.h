/* Programs of mode harness on the stage, and what its store keeps of their evaluations. */
#ifndef QS_TEST_DEVICE_STAGE_HARNESS_H
#define QS_TEST_DEVICE_STAGE_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "device/session/session.h"
#include "store/tuning.h"

enum { STAGE_KEPT = 8 };
struct stage_tuning { /* what the store keeps */
    char *depends;
    struct qs_tuning tuning;
};

struct stage_harness { /* programs of mode harness; arms beyond the second are like it */
    bool able;         /* the agent can tune */
    struct qs_session_place place;
    uint8_t sha256[32];
    const char *cpus;
    uint32_t evals_max[2];
    int64_t evaluation_ns[2];
    int64_t precision_ns, accuracy_ns; /* of the clock; 0: the agent says nothing of it */
    bool look_fails;                   /* the store cannot be read */
};

#endif
