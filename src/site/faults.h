/* faults.h - the table of faults, filled from several files. */
#ifndef COS_SITE_FAULTS_H
#define COS_SITE_FAULTS_H

#include "site/site.h"

/* What a fault works with. */
struct cos__fault {
    struct cos__site *site;
    struct cos_http_conn *conn;
    const struct cos_http_req *req;
    const char *rest; /* what follows the name in the path: "" or "/…" */
    size_t rest_len;
};

struct cos__fault_row {
    const char *name;
    const char *help;
    const char *link; /* how the index links to it when the bare name is not enough */
    int (*run)(struct cos__fault *fault);
};

/* Each ends in a row without a name. */
extern const struct cos__fault_row cos__faults_status[]; /* answers by the rules */
extern const struct cos__fault_row cos__faults_wire[];   /* broken on the wire */
extern const struct cos__fault_row cos__faults_body[];   /* strange content */

/* A small HTML page that names the fault and links to /fault/ok.html. */
int cos__fault_page(struct cos__fault *fault, const char *text, struct cos_buf *out);
/* Sends that page with this status and these header lines (or NULL). */
int cos__fault_reply(struct cos__fault *fault, int status, const char *headers);
/* The how-manieth time this very URL is asked for, from 1. */
int64_t cos__fault_times(struct cos__fault *fault);

#endif
