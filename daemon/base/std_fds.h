/* Standard input, output and error are taken before anything else is opened. */
#ifndef QS_BASE_STD_FDS_H
#define QS_BASE_STD_FDS_H

#include <stdbool.h>

/* Opens /dev/null as each of the descriptors 0, 1 and 2 that is closed, so that no socket or database gets
 * the number that somebody prints to. Called first in main(). False where /dev/null cannot be opened. */
bool qs_std_fds_fill(void);

#endif
