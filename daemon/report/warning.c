#include "report/warning.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/json.h"

void qs_put_warning(struct qs_json *j, const char *code, const char *fmt, ...)
{
    va_list ap;
    QS_BUF(text);
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    qs_json_object(j);
    qs_json_kstring(j, "code", code);
    qs_json_kstring(j, "text", text.data);
    qs_json_object_end(j);
}
