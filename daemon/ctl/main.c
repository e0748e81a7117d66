/* `quiesce`: see commands/command.h. */
#include <curl/curl.h>
#include <locale.h>
#include <signal.h>

#include "base/process.h"
#include "ctl/commands/command.h"

int main(int argc, char **argv)
{
    if (!qs_std_fds_fill())
        return QS_EXIT_INFRASTRUCTURE;
    setlocale(LC_CTYPE, "");
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    int code = qs_ctl_main(argc, argv, stdout, stderr);
    curl_global_cleanup();
    return code;
}
