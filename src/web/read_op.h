/* read_op.h - reading a page's links as an operation: what cos_read_links() and
 * its callback twin start. */
#ifndef COS_WEB_READ_OP_H
#define COS_WEB_READ_OP_H

#include "base/op.h"
#include "base/page.h"

/* page is the caller's and is the operation's until it completes. */
struct cos_op *cos__read_links_op(struct cos_page *page);
/* The page is the caller's again, before the operation is freed. */
void cos__read_links_end(struct cos_op *op);

#endif
