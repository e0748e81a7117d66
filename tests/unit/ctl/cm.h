/* cmocka with what it needs before it. */
#ifndef QS_TESTS_UNIT_CTL_CM_H
#define QS_TESTS_UNIT_CTL_CM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
