/* Who may use what devices share: pure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "farm/hub.h"

enum { PHONE_A, PHONE_B, BOARD, LOCAL, COUNT };

static const int64_t ms = 1000000;
static struct qs_farm_device devices[COUNT] = {{.name = (char *)"a", .hub = (char *)"desk"},
                                               {.name = (char *)"b", .hub = (char *)"desk"},
                                               {.name = (char *)"board"},
                                               {.name = (char *)"local", .local = true}};

static struct qs_hub_user users[COUNT];

static int new_hub(void **state)
{
    for (size_t i = 0; i < COUNT; i++)
        users[i] = (struct qs_hub_user){.device = &devices[i]};
    *state = qs_hub_new();
    return 0;
}

static int free_hub(void **state)
{
    qs_hub_free(*state);
    return 0;
}

static void refused(struct qs_hub *hub, size_t device, enum qs_hub_use use, int64_t now_ns, const char *part)
{
    const char *why = "";
    assert_false(qs_hub_take(hub, &users[device], use, now_ns, &why));
    if (!strstr(why, part))
        fail_msg("\"%s\" does not say \"%s\"", why, part);
}

static void granted(struct qs_hub *hub, size_t device, enum qs_hub_use use, int64_t now_ns)
{
    const char *why = "";
    if (!qs_hub_take(hub, &users[device], use, now_ns, &why))
        fail_msg("%s", why);
}

static void one_hub_one_user(void **state)
{
    struct qs_hub *hub = *state;
    granted(hub, PHONE_A, QS_HUB_WINDOW, 0);
    granted(hub, PHONE_A, QS_HUB_WINDOW, 1); /* it has it */
    refused(hub, PHONE_B, QS_HUB_WINDOW, 2, "a measures on hub desk");
    refused(hub, PHONE_B, QS_HUB_TRANSFER, 3, "a measures on hub desk");
    granted(hub, BOARD, QS_HUB_WINDOW, 4); /* it hangs elsewhere */
    qs_hub_give(hub, &users[PHONE_A]);
    granted(hub, PHONE_B, QS_HUB_TRANSFER, 5);
    refused(hub, PHONE_A, QS_HUB_WINDOW, 6, "b transfers on hub desk");
    qs_hub_give(hub, &users[PHONE_B]);
    granted(hub, PHONE_A, QS_HUB_WINDOW, 7);
}

static void a_window_on_this_machine_excludes_all(void **state)
{
    struct qs_hub *hub = *state;
    granted(hub, LOCAL, QS_HUB_TRANSFER, 0); /* a transfer alone disturbs nobody elsewhere */
    granted(hub, BOARD, QS_HUB_WINDOW, 1);
    qs_hub_give(hub, &users[LOCAL]);
    refused(hub, LOCAL, QS_HUB_WINDOW, 2, "board measures, and one of the two is this machine");
    qs_hub_give(hub, &users[BOARD]);
    granted(hub, LOCAL, QS_HUB_WINDOW, 3);
    refused(hub, BOARD, QS_HUB_TRANSFER, 4, "local measures");
    refused(hub, PHONE_A, QS_HUB_WINDOW, 5, "local measures");
    qs_hub_give(hub, &users[LOCAL]);
    granted(hub, BOARD, QS_HUB_TRANSFER, 6);
    granted(hub, PHONE_A, QS_HUB_WINDOW, 7);
}

static void who_waits_longer_comes_first(void **state)
{
    struct qs_hub *hub = *state;
    granted(hub, BOARD, QS_HUB_WINDOW, 0);
    refused(hub, LOCAL, QS_HUB_WINDOW, 1, "board");
    refused(hub, PHONE_A, QS_HUB_WINDOW, 2, "local comes first");
    qs_hub_give(hub, &users[BOARD]);
    refused(hub, BOARD, QS_HUB_WINDOW, 3, "local comes first");
    granted(hub, LOCAL, QS_HUB_WINDOW, 100 * ms);
    qs_hub_give(hub, &users[LOCAL]);
    granted(hub, PHONE_A, QS_HUB_WINDOW, 101 * ms);
    refused(hub, LOCAL, QS_HUB_WINDOW, 102 * ms, "a measures");
    qs_hub_give(hub, &users[PHONE_A]);
    /* local lost its gate and asks no more: its place is gone after a while */
    refused(hub, PHONE_B, QS_HUB_WINDOW, 103 * ms, "local comes first");
    granted(hub, PHONE_B, QS_HUB_WINDOW, 103 * ms + QS_HUB_PATIENCE_NS);
    qs_hub_give(hub, &users[PHONE_B]);
    granted(hub, LOCAL, QS_HUB_WINDOW, 104 * ms + QS_HUB_PATIENCE_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_hub_one_user, new_hub, free_hub),
        cmocka_unit_test_setup_teardown(a_window_on_this_machine_excludes_all, new_hub, free_hub),
        cmocka_unit_test_setup_teardown(who_waits_longer_comes_first, new_hub, free_hub),
    };
    return cmocka_run_group_tests_name("farm hub", tests, NULL, NULL);
}
