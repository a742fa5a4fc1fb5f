/* version.h - the libraries of this room that are loaded now. */
#ifndef COS_STORE_VERSION_H
#define COS_STORE_VERSION_H

/* SQLite: "3.40.1"; static. */
const char *cos_store_version(void);
/* Nettle, for digests: "3.8"; static. */
const char *cos_store_nettle(void);

#endif
