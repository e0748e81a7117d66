/* CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), as of RFC 3720 appendix B.4. */
#ifndef QS_PROTO_CRC32C_H
#define QS_PROTO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of data that continues data with CRC `crc`; 0 for the first piece. */
uint32_t qs_crc32c(uint32_t crc, const void *bytes, size_t n);
/* The same without the processor's own instruction: what qs_crc32c is where there is none. */
uint32_t qs_crc32c_by_table(uint32_t crc, const void *bytes, size_t n);

#endif
