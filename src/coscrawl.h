/* coscrawl.h - the public header of the coroutine face. */
#ifndef COSCRAWL_H
#define COSCRAWL_H

#ifdef __cplusplus
extern "C" {
#endif

#include "base/err.h"
#include "base/page.h"

#ifdef __cplusplus
}
#endif

#endif
