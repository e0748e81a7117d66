/* What this host is: part of the environment of every result measured through it. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "farm/farm_impl.h"

/* The value after "key\t: " of the first such line of /proc/cpuinfo, or "". */
static void cpu_model(char *out, size_t bytes)
{
    char line[512];
    out[0] = '\0';
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (!colon || (strncmp(line, "model name", 10) != 0 && strncmp(line, "Model", 5) != 0 &&
                       strncmp(line, "Hardware", 8) != 0))
            continue;
        colon += strspn(colon, ": \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(out, bytes, "%s", colon);
        break;
    }
    if (f)
        fclose(f);
}

char *qs_farm_host_json(void)
{
    struct utsname u;
    char cpu[256];
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    if (uname(&u) != 0)
        memset(&u, 0, sizeof u);
    cpu_model(cpu, sizeof cpu);
    qs_json_object(&j);
    qs_json_kint(&j, "cpus_configured", sysconf(_SC_NPROCESSORS_CONF));
    qs_json_kstring(&j, "cpu_model", cpu);
    qs_json_kstring(&j, "kernel", u.release);
    qs_json_kstring(&j, "kernel_build", u.version);
    qs_json_kstring(&j, "machine", u.machine);
    qs_json_kint(&j, "page_bytes", sysconf(_SC_PAGESIZE));
    qs_json_kstring(&j, "quiesced", QS_VERSION);
    qs_json_kstring(&j, "system", u.sysname);
    qs_json_object_end(&j);
    return qs_buf_take(&out);
}
