/* version.h - the SQLite that is loaded now. */
#ifndef COS_STORE_VERSION_H
#define COS_STORE_VERSION_H

/* "3.40.1"; static. */
const char *cos_store_version(void);

#endif
