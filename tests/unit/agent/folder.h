/* A folder of the test's own, in which it works. */
#ifndef QS_TESTS_AGENT_FOLDER_H
#define QS_TESTS_AGENT_FOLDER_H

extern char folder[]; /* its path, from enter_folder on */

/* Of cmocka: setup and teardown of a group. What is in the folder goes, closed folders too. */
int enter_folder(void **state);
int leave_folder(void **state);
/* Writes a file there, with the folders of its path. */
void put(const char *path, const char *text);

#endif
