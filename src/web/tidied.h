/* tidied.h - what HTML Tidy says about a page: cos_tidy() fills it. */
#ifndef COS_WEB_TIDIED_H
#define COS_WEB_TIDIED_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* what to do with a page, or-ed */
enum {
    COS_TIDY_REPAIR = 1,  /* html: the page in order */
    COS_TIDY_LINT = 2,    /* messages: what is wrong with it */
    COS_TIDY_OUTLINE = 4, /* outline: its elements as tidy understands them */
};

/* A page beyond one of these is not given to tidy, which crashes or runs away on
 * some of them: COS_ETOOBIG. */
enum { COS_TIDY_BYTES = 16 << 20, COS_TIDY_OPEN = 500, COS_TIDY_ATTRIBUTES = 1000 };
/* Messages kept of one page; the counts go on. */
enum { COS_TIDY_MESSAGES = 1000 };

enum cos_tidy_level { COS_TIDY_WARNING, COS_TIDY_ERROR };

struct cos_tidy_message {
    enum cos_tidy_level level;
    unsigned line, column; /* from 1; 0 when it is about the whole page */
    const char *text;
};

/* Where an element of the outline stood in the page. */
struct cos_tidy_mark {
    uint32_t offset; /* in the outline, ascending */
    uint32_t line, column;
};

struct cos_tidied {
    struct cos_buf html;
    struct cos_buf outline; /* tags and attributes, style and title texts, nothing else */
    struct cos_tidy_mark *marks;
    size_t nmarks;
    struct cos_tidy_message *messages;
    size_t nmessages;
    unsigned errors, warnings; /* all of them */
    char *why;                 /* after an error: in words, NULL if nothing is known */
    char *texts;               /* what messages point into */
};

/* Frees all of it; a zeroed struct is fine. */
void cos_tidied_release(struct cos_tidied *tidied);

#endif
