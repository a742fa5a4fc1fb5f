/* version.c - see version.h: the program shows it and may not include sqlite3.h. */
#include "store/version.h"

#include <nettle/version.h>
#include <sqlite3.h>
#include <stdio.h>

const char *cos_store_version(void)
{
    return sqlite3_libversion();
}

const char *cos_store_nettle(void)
{
    static char text[16];
    snprintf(text, sizeof text, "%d.%d", nettle_version_major(), nettle_version_minor());
    return text;
}
