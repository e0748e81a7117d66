/* Files of sysfs by name: what matches a pattern, what may be done with it, what it says. */
#ifndef QS_LINUX_SURVEY_H
#define QS_LINUX_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/port_survey.h"

/* See struct qs_port_survey. root: the folder that paths are relative to; where that is the kernel's /sys,
 * those that begin with proc/sys/ are below /proc/sys. */
bool qs_survey_find(const char *root, const char *pattern, const char *after, struct qs_port_found *found);
/* What a found file says; find leaves that empty. Its driver may take any time. */
void qs_survey_read(const char *root, struct qs_port_found *found);
/* root/path, with links followed, where that is a file below root: opened with these flags (beside O_CLOEXEC
 * and O_NONBLOCK). -1: errno says why; ENOENT: there is none; EXDEV: it leads out of root; EINVAL: it is no
 * regular file. */
int qs_survey_open(const char *root, const char *path, int flags);

#endif
