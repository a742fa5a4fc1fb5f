/* version.c - see version.h: the program shows it and may not include sqlite3.h. */
#include "store/version.h"

#include <sqlite3.h>

const char *cos_store_version(void)
{
    return sqlite3_libversion();
}
