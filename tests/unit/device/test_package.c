/* What Android says of an app, in the forms of its versions, and what a job makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "device/board/package.h"

/* Android 13: a release build, with a split that has no code, and code for a second kind of processor. */
static const char release[] =
    "Activity Resolver Table:\n"
    "  Non-Data Actions:\n"
    "      android.intent.action.MAIN:\n"
    "        b7d1e3f org.example.app/.Main filter 5d0c90c\n"
    "\n"
    "Key Set Manager:\n"
    "  [org.example.app]\n"
    "      Signing KeySets: 41\n"
    "\n"
    "Packages:\n"
    "  Package [org.example.app.test] (1f0a2b3):\n"
    "    versionCode=7 minSdk=24 targetSdk=33\n"
    "    versionName=0.7\n"
    "    flags=[ DEBUGGABLE HAS_CODE ]\n"
    "  Package [org.example.app] (9c6c1a2):\n"
    "    userId=10214\n"
    "    pkg=Package{d4c3b2a org.example.app}\n"
    "    codePath=/data/app/~~Zq3==/org.example.app-x9==\n"
    "    primaryCpuAbi=arm64-v8a\n"
    "    versionCode=142 minSdk=24 targetSdk=33\n"
    "    versionName=1.4.2\n"
    "    flags=[ HAS_CODE ALLOW_CLEAR_USER_DATA ALLOW_BACKUP ]\n"
    "    privateFlags=[ NOT_DEBUGGABLE_BY_NAME ]\n"
    "    User 0: ceDataInode=1 installed=true hidden=false\n"
    "      gids=[3003]\n"
    "\n"
    "Queries:\n"
    "  system apps queryable: false\n"
    "\n"
    "Dexopt state:\n"
    "  [org.example.app.test]\n"
    "    path: /data/app/~~T==/org.example.app.test-1==/base.apk\n"
    "      arm64: [status=verify] [reason=install] [primary-abi]\n"
    "  [org.example.app]\n"
    "    path: /data/app/~~Zq3==/org.example.app-x9==/base.apk\n"
    "      arm: [status=verify] [reason=install]\n"
    "        [location is /data/app/~~Zq3==/org.example.app-x9==/oat/arm/base.odex]\n"
    "      arm64: [status=speed] [reason=cmdline] [primary-abi]\n"
    "        [location is /data/app/~~Zq3==/org.example.app-x9==/oat/arm64/base.odex]\n"
    "    path: /data/app/~~Zq3==/org.example.app-x9==/split_config.en.apk\n"
    "      arm64: [status=run-from-apk] [reason=unknown] [primary-abi]\n"
    "\n"
    "Compiler stats:\n"
    "  [org.example.app]\n"
    "     base.apk - 312\n";

/* Android 8. */
static const char older[] =
    "Packages:\r\n"
    "  Package [org.example.app] (a1):\r\n"
    "    versionCode=3 minSdk=21 targetSdk=26\r\n"
    "    versionName=dev\r\n"
    "    pkgFlags=[ SYSTEM HAS_CODE DEBUGGABLE ]\r\n"
    "Dexopt state:\r\n"
    "  [org.example.app]\r\n"
    "    Instruction Set: arm64\r\n"
    "      path: /data/app/org.example.app-1/base.apk\r\n"
    "      status: /data/app/org.example.app-1/oat/arm64/base.odex [compilation_filter=quicken, "
    "status=kOatUpToDate]\r\n";

static void check(const char *text, const struct qs_package *want)
{
    struct qs_package is;
    qs_package_read(text, strlen(text), "org.example.app", &is);
    assert_int_equal(is.installed, want->installed);
    assert_int_equal(is.has_flags, want->has_flags);
    assert_int_equal(is.debuggable, want->debuggable);
    assert_string_equal(is.version, want->version);
    assert_string_equal(is.compiled, want->compiled);
}

static void test_dumps(void **state)
{
    (void)state;
    check(release, &(struct qs_package){true, true, false, "1.4.2 (142)", "speed"});
    check(older, &(struct qs_package){true, true, true, "dev (3)", "quicken"});
    check("", &(struct qs_package){false, false, false, "", ""});
    check("Unable to find package: org.example.app\n", &(struct qs_package){false, false, false, "", ""});
    check("Packages:\n  Package [org.example.app] (1):\n", &(struct qs_package){true, false, false, "", ""});
    check("Packages:\n  Package [org.example.app] (1):\n    versionName=1.0\n  Package [org.example.ap",
          &(struct qs_package){true, false, false, "1.0", ""});
    /* what is said of others, and after the app's own part, is none of it */
    check("Hidden system packages:\n  Package [org.example.app] (1):\n    flags=[ DEBUGGABLE ]\n",
          &(struct qs_package){false, false, false, "", ""});
    check("Dexopt state:\n  [org.example.app]\n  [b]\n    path: x\n      arm64: [status=speed]\n",
          &(struct qs_package){false, false, false, "", ""});
    check("Packages:\n  Package [org.example.app] (1):\n    flags=[ NOT_DEBUGGABLE ]\n",
          &(struct qs_package){true, true, false, "", ""});
}

/* Bytes of any kind are read within their bounds: each end of each dump, and a word that does not end. */
static void test_cut(void **state)
{
    static char long_word[4096];
    static const char head[] = "Packages:\n  Package [a] (1):\n    versionName=";
    struct qs_package is;
    (void)state;
    for (size_t n = 0; n <= sizeof release - 1; n++) {
        QS_FREED char *exact = qs_strndup(release, n); /* an overrun would be seen */
        qs_package_read(exact, n, "org.example.app", &is);
        assert_false(is.debuggable);
    }
    memset(long_word, 'x', sizeof long_word);
    memcpy(long_word, head, sizeof head - 1);
    qs_package_read(long_word, sizeof long_word, "a", &is);
    assert_true(is.installed);
    assert_int_equal(strlen(is.version), 30);
}

static void refuse(const char *text, const struct qs_job_app *wanted, const char *why)
{
    struct qs_package is;
    struct qs_err err = QS_ERR_INIT;
    qs_package_read(text, strlen(text), wanted->package, &is);
    assert_int_equal(qs_package_holds(&is, wanted, "phone", &err), why == NULL);
    if (why != NULL) {
        assert_int_equal(err.code, QS_E_PRECONDITION);
        assert_string_equal(err.text, why);
    }
}

static void test_judgement(void **state)
{
    (void)state;
    char name[] = "org.example.app", speed[] = "speed", quicken[] = "quicken";
    struct qs_job_app wanted = {.package = name, .debuggable = QS_APP_NO, .compiled = speed};
    refuse(release, &wanted, NULL);
    refuse(older, &wanted,
           "org.example.app on phone is a build that may be debugged, which is slower in its own ways: "
           "install a release "
           "build, or write `debuggable: true`");
    wanted.debuggable = QS_APP_YES;
    refuse(release, &wanted,
           "org.example.app on phone is no build that may be debugged: write `debuggable: false`");
    refuse(older, &wanted,
           "org.example.app on phone is compiled as `quicken`, not as `speed`: run `cmd package compile -m "
           "speed -f "
           "org.example.app` there first, or write `compiled: quicken`");
    wanted.compiled = quicken;
    refuse(older, &wanted, NULL);
    wanted.debuggable = QS_APP_ANY;
    refuse("", &wanted,
           "phone has no app org.example.app: install it first (`pm list packages` there lists them)");
    refuse("Packages:\n  Package [org.example.app] (1):\n", &wanted,
           "phone does not say how it has compiled org.example.app (`dumpsys package org.example.app` has no "
           "such entry "
           "below `Dexopt state:`): leave `app.compiled` out");
    wanted = (struct qs_job_app){.package = name, .debuggable = QS_APP_NO};
    refuse("Packages:\n  Package [org.example.app] (1):\n", &wanted,
           "phone does not say whether org.example.app may be debugged (`dumpsys package org.example.app` "
           "has no "
           "`flags=`): leave `app.debuggable` out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dumps), cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_judgement)};
    return cmocka_run_group_tests_name("device package", tests, NULL, NULL);
}
