/* libdillimpl.h - handles of one's own kind.
 * For whoever implements an object behind a handle; users of such objects
 * need libdill.h only. */
#ifndef LIBDILLIMPL_H_INCLUDED
#define LIBDILLIMPL_H_INCLUDED

#include "libdill.h"

#if defined __cplusplus
extern "C" {
#endif

/* The first member of every object behind a handle.
 * query: the object's interface of that type, or NULL with errno ENOTSUP.
 * close: releases the object; blocking calls in it fail with ECANCELED. */
struct dill_hvfs {
    void *(*query)(struct dill_hvfs *vfs, const void *type);
    void (*close)(struct dill_hvfs *vfs);
};

/* Returns the handle of a new object. EINVAL, ENOMEM. */
DILL_EXPORT int dill_hmake(struct dill_hvfs *vfs);

/* Asks the object for an interface. NULL: EBADF, or what query says. */
DILL_EXPORT void *dill_hquery(int h, const void *type);

#if defined __cplusplus
}
#endif

#if !defined DILL_DISABLE_RAW_NAMES && !defined __cplusplus
#define hvfs   dill_hvfs
#define hmake  dill_hmake
#define hquery dill_hquery
#endif

#endif
