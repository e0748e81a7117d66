/* Trees from files: the only input here, for both fronts. */
#ifndef QS_SIM_BOARD_LOAD_H
#define QS_SIM_BOARD_LOAD_H

#include "sim/board/board.h"

/* False: *board is of no use and why says what is wrong, with the path. */
bool qs_vboard_load(struct qs_vboard *board, const char *path);

#endif
