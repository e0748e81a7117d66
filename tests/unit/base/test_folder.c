/* Folders: which one a path lies in, where state goes, what is made, and which ones are trusted. */
#include "cm.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"

static void assert_owned(char *text, const char *want)
{
    assert_string_equal(text ? text : "(none)", want);
    free(text);
}

static void a_path_lies_in_a_folder(void **state)
{
    (void)state;
    assert_owned(qs_folder_of("x"), ".");
    assert_owned(qs_folder_of("/x"), "/");
    assert_owned(qs_folder_of("a/x"), "a");
    assert_owned(qs_folder_of("/a/b/x"), "/a/b");
}

static char *state_home, *home;

static char *env(const char *name)
{
    return strcmp(name, "XDG_STATE_HOME") == 0 ? state_home : strcmp(name, "HOME") == 0 ? home : NULL;
}

/* A relative one is none (XDG base directories). */
static void state_goes_to_the_first_that_is_absolute(void **state)
{
    char s[] = "/s", h[] = "/h", relative[] = "s";
    (void)state;
    state_home = s;
    home = h;
    assert_owned(qs_folder_of_state(env), "/s/quiesce");
    state_home = relative;
    assert_owned(qs_folder_of_state(env), "/h/.local/state/quiesce");
    state_home = NULL;
    assert_owned(qs_folder_of_state(env), "/h/.local/state/quiesce");
}

/* In place of the C library's. */
struct passwd *__wrap_getpwuid(uid_t uid);
static struct passwd *known;
struct passwd *__wrap_getpwuid(uid_t uid)
{
    assert_int_equal(uid, geteuid());
    return known;
}

/* Without variables: the home that the system knows, where it is a folder and not the root of all. */
static void a_home_that_is_known_is_one(void **state)
{
    static const struct {
        const char *home, *state_home;
    } rows[] = {{"/usr", "/usr/.local/state/quiesce"},
                {"/", NULL},
                {"/nonexistent", NULL},
                {"/dev/null", NULL},
                {".", NULL},
                {"", NULL}};
    struct passwd user;
    (void)state;
    state_home = home = NULL;
    known = NULL;
    assert_null(qs_folder_of_state(env));
    known = &user;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = qs_strdup(rows[i].home);
        user = (struct passwd){.pw_dir = text};
        assert_owned(qs_folder_of_state(env), rows[i].state_home ? rows[i].state_home : "(none)");
        free(text);
    }
    known = NULL;
}

static void folders_are_made_down_to_the_last(void **state)
{
    char dir[] = "/tmp/qs-folder-XXXXXX";
    struct qs_err err = QS_ERR_INIT;
    struct stat st;
    (void)state;
    assert_non_null(mkdtemp(dir));
    char *deep = qs_asprintf("%s/a/b/c", dir), *file = qs_asprintf("%s/a/f", dir),
         *below = qs_asprintf("%s/a/f/g", dir);
    assert_true(qs_folder_make(deep, &err));
    assert_int_equal(stat(deep, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_true(qs_folder_make(deep, &err)); /* again */
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fclose(f);
    assert_false(qs_folder_make(below, &err));
    assert_int_equal(err.code, QS_E_CONFLICT);
    assert_non_null(strstr(err.text, "/a/f is not a folder: nothing can be made in it"));
    err = QS_ERR_INIT;
    assert_false(qs_folder_sync(file, &err));
    assert_non_null(strstr(err.text, "cannot sync the folder"));
    assert_true(qs_folder_sync(deep, &err));
    char *command = qs_asprintf("rm -r -- '%s'", dir);
    assert_int_equal(system(command), 0);
    free(command);
    free(below);
    free(file);
    free(deep);
}

static void refused(const char *path, enum qs_errc code, const char *words)
{
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_folder_check(path, 022, "nothing goes there", &err));
    assert_int_equal(err.code, code);
    if (!strstr(err.text, words))
        fail_msg("%s", err.text);
}

static void only_our_own_is_trusted(void **state)
{
    char dir[] = "/tmp/qs-folder-XXXXXX";
    struct qs_err err = QS_ERR_INIT;
    (void)state;
    assert_non_null(mkdtemp(dir));
    static const mode_t trusted[] = {0700, 0755, 01777, 01720}, open_to_all[] = {0720, 0702, 0777};
    for (size_t i = 0; i < sizeof trusted / sizeof *trusted; i++) {
        assert_int_equal(chmod(dir, trusted[i]), 0);
        assert_true(qs_folder_check(dir, 022, "so", &err));
    }
    for (size_t i = 0; i < sizeof open_to_all / sizeof *open_to_all; i++) {
        assert_int_equal(chmod(dir, open_to_all[i]), 0);
        refused(dir, QS_E_DENIED, "may be written by others: nothing goes there");
    }
    assert_int_equal(chmod(dir, 0720), 0);
    assert_true(qs_folder_check(dir, 002, "so", &err));
    assert_true(qs_folder_check("/usr", 022, "so", &err)); /* of root */
    if (geteuid() == 0) {
        assert_int_equal(chmod(dir, 0700) | chown(dir, 12345, 0), 0);
        refused(dir, QS_E_DENIED, "belongs to another user (12345): nothing goes there");
    }
    assert_int_equal(rmdir(dir), 0);
    refused(dir, QS_E_IO, "cannot look at");
    refused("/dev/null", QS_E_CONFLICT, "/dev/null is not a folder: nothing goes there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_lies_in_a_folder),
        cmocka_unit_test(state_goes_to_the_first_that_is_absolute),
        cmocka_unit_test(a_home_that_is_known_is_one),
        cmocka_unit_test(folders_are_made_down_to_the_last),
        cmocka_unit_test(only_our_own_is_trusted),
    };
    return cmocka_run_group_tests_name("base.folder", tests, NULL, NULL);
}
