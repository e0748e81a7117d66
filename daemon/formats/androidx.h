/* What benchmarkData.json's names say. Private to formats. */
#ifndef QS_FORMATS_ANDROIDX_H
#define QS_FORMATS_ANDROIDX_H

/* The unit that ends a metric's name ("ms" of timeToInitialDisplayMs); "" where it names none. */
const char *qs_androidx_unit(const char *metric);

#endif
