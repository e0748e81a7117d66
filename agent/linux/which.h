/* Where a program is. */
#ifndef QS_LINUX_WHICH_H
#define QS_LINUX_WHICH_H

#include <stddef.h>

/* PATH of an environment, or what stands for it. */
const char *qs_which_path(char *const *envp);
/* The file of a program, as a shell finds it; relative ones are seen from dir_fd. 0, or an errno. */
int qs_which(char *path, size_t cap, const char *name, char *const *envp, int dir_fd);

#endif
