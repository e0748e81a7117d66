/* Files of an operator: read whole, and a farm.yaml checked. */
#ifndef QS_CONFIG_DOCUMENT_LOAD_H
#define QS_CONFIG_DOCUMENT_LOAD_H

#include "config/farm/farm.h"

/* At most QS_DOC_BYTES. Owned by the caller; NULL: QS_E_IO. */
char *qs_load_text(const char *path, size_t *ret_bytes, struct qs_err *err);
/* With the profiles of its own. False: what is wrong with the file or one of them is appended to `problems`,
 * for people, and err counts it (QS_E_CONFIG), or it could not be read (QS_E_IO), or two of its devices have
 * one key (QS_E_CONFIG). */
bool qs_load_farm(const char *path, qs_farm_address_fn *check_address, struct qs_farm_config **ret,
                  struct qs_buf *problems, struct qs_err *err);

#endif
