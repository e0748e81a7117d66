/* An environment as the store keeps it (canonical JSON) as a flat list of facts: nested objects by dotted
 * keys, lists as their items with commas between, what is in them as "{KEY:VALUE,...}" and "[ITEM,...]". */
#ifndef QS_REPORT_ENV_FACTS_H
#define QS_REPORT_ENV_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct qs_env_fact {
    char *key, *value; /* owned */
};

struct qs_env_facts {
    struct qs_env_fact *at; /* owned; ascending by key */
    size_t count;
    bool has_variables; /* it is known what processes inherit */
};

/* QS_E_DATA where the text is not a JSON object. To be freed whatever the answer. */
bool qs_env_facts_read(const char *json, struct qs_env_facts *ret, struct qs_err *err);
void qs_env_facts_done(struct qs_env_facts *facts);
/* The name of an inherited variable by its key ("variables.PATH"); NULL: the fact is another one. Borrowed.
 */
const char *qs_env_variable(const char *key);

#endif
