/* What the static agents compile of Mbed TLS 2.28: a server of TLS 1.2 that knows one way of doing it
 * (ECDHE-PSK on Curve25519, ChaCha20-Poly1305, SHA-256), in memory of its own. No certificates, no files, no
 * sessions that are taken up again, no renegotiation. */
#ifndef QS_LINUX_TLS_CONFIG_H
#define QS_LINUX_TLS_CONFIG_H

#define MBEDTLS_HAVE_ASM
#define MBEDTLS_PLATFORM_C
#define MBEDTLS_PLATFORM_MEMORY
#define MBEDTLS_PLATFORM_NO_STD_FUNCTIONS
#define MBEDTLS_MEMORY_BUFFER_ALLOC_C

#define MBEDTLS_SSL_TLS_C
#define MBEDTLS_SSL_SRV_C
#define MBEDTLS_SSL_PROTO_TLS1_2
#define MBEDTLS_SSL_ALL_ALERT_MESSAGES /* so that a host learns that its key is another one */
#define MBEDTLS_SSL_CIPHERSUITES       MBEDTLS_TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256
#define MBEDTLS_SSL_IN_CONTENT_LEN     4096
#define MBEDTLS_SSL_OUT_CONTENT_LEN    4096
#define MBEDTLS_KEY_EXCHANGE_ECDHE_PSK_ENABLED

#define MBEDTLS_CIPHER_C
#define MBEDTLS_CHACHA20_C
#define MBEDTLS_POLY1305_C
#define MBEDTLS_CHACHAPOLY_C
#define MBEDTLS_MD_C
#define MBEDTLS_SHA256_C
#define MBEDTLS_SHA256_SMALLER

#define MBEDTLS_BIGNUM_C
#define MBEDTLS_MPI_MAX_SIZE    64
#define MBEDTLS_MPI_WINDOW_SIZE 1
#define MBEDTLS_ECDH_C
#define MBEDTLS_ECP_C
#define MBEDTLS_ECP_DP_CURVE25519_ENABLED
#define MBEDTLS_ECP_MAX_BITS          255
#define MBEDTLS_ECP_WINDOW_SIZE       2
#define MBEDTLS_ECP_FIXED_POINT_OPTIM 0
#define MBEDTLS_ECP_NO_INTERNAL_RNG   /* it is given ours wherever it needs one */

#include <mbedtls/check_config.h>

#endif
