/* Memory of a fixed size behind a descriptor that a child may have (Linux). */
#ifndef QS_LINUX_MEMORY_H
#define QS_LINUX_MEMORY_H

#include <stddef.h>

/* Zeros, sealed in their size where the kernel has memfd (3.17): nobody can cut them or write behind them.
 * The descriptor stands above those of children. -1: errno. name is for /proc. */
int qs_memory_open(const char *name, size_t bytes);
/* That memory in our address space; NULL: errno. Where it is not sealed and somebody cuts it, zeros stand in
 * its place; one such mapping at a time. */
void *qs_memory_map(int fd, size_t bytes);
void qs_memory_unmap(void *memory, size_t bytes);
/* The same description at a number above those of children; fd is closed. -1: errno. */
int qs_memory_move_up(int fd);

#endif
