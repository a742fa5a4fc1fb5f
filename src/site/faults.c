/* faults.c - /fault/<name>: what can go wrong between a server and a crawler,
 * each by its URL. This file finds the fault and serves the index; the faults
 * live in fault_status.c, fault_wire.c and fault_body.c. May call base. */
#include "site/faults.h"

#include "base/err.h"

#include <string.h>

static const struct cos__fault_row *const tables[] = {cos__faults_status, cos__faults_wire,
                                                      cos__faults_body};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* The nth fault of all, NULL after the last. */
static const struct cos__fault_row *nth_fault(size_t nth)
{
    for (size_t t = 0; t < TABLES; t++)
        for (const struct cos__fault_row *row = tables[t]; row->name; row++)
            if (nth-- == 0)
                return row;
    return NULL;
}

void cos_site_list_faults(FILE *out)
{
    const struct cos__fault_row *row;
    const char *variant;
    for (size_t i = 0; (row = nth_fault(i)) != NULL; i++)
        fprintf(out, "  %-18s %s\n", row->name, row->help);
    fprintf(out, "  %-18s %s", "robots/NAME", "a robots.txt variant:");
    for (size_t i = 0; (variant = cos__site_robots_variant(i)) != NULL; i++)
        fprintf(out, "%s%s", i % 9 ? " " : "\n                     ", variant);
    fputc('\n', out);
}

int cos__fault_page(struct cos__fault *fault, const char *text, struct cos_buf *out)
{
    (void)fault;
    return cos_buf_addf(out,
                        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
                        "<title>%s</title></head>\n<body>\n<h1>%s</h1>\n"
                        "<p><a href=\"/fault/ok.html\">A page without faults</a></p>\n"
                        "</body>\n</html>\n",
                        text, text);
}

int cos__fault_reply(struct cos__fault *fault, int status, const char *headers)
{
    struct cos_http_reply reply = {.status = status, .headers = headers};
    char title[32];
    int err;
    snprintf(title, sizeof title, "Status %d", status);
    err = cos__fault_page(fault, title, &fault->conn->page);
    reply.body = fault->conn->page.data;
    reply.len = fault->conn->page.len;
    return err ? err : cos_http_reply(fault->conn, fault->req, &reply);
}

int64_t cos__fault_times(struct cos__fault *fault)
{
    uint64_t *times;
    const char *target = fault->req->target;
    int err = cos_set_add(&fault->site->tries, target, strlen(target), (void **)&times);
    return err < 0 ? err : (int64_t)++*times;
}

static int serve_index(struct cos__fault *fault)
{
    struct cos_buf *out = &fault->conn->page;
    const struct cos__fault_row *row;
    const char *variant;
    int err =
        cos_buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
                          "<title>Faults</title></head>\n<body>\n<h1>Faults</h1>\n<ul>\n");
    for (size_t i = 0; !err && (row = nth_fault(i)) != NULL; i++)
        err = cos_buf_addf(out, "<li><a href=\"/fault/%s\">%s</a>: %s</li>\n",
                           row->link ? row->link : row->name, row->name, row->help);
    for (size_t i = 0; !err && (variant = cos__site_robots_variant(i)) != NULL; i++)
        err = cos_buf_addf(out, "<li><a href=\"/fault/robots/%s\">robots/%s</a></li>\n", variant,
                           variant);
    if (!err)
        err = cos_buf_adds(out, "</ul>\n</body>\n</html>\n");
    if (err)
        return err;
    return cos_http_reply(fault->conn, fault->req,
                          &(struct cos_http_reply){.body = out->data, .len = out->len});
}

static int serve_robots(struct cos__fault *fault, const char *name)
{
    char variant[16];
    size_t len = (size_t)(fault->rest + fault->rest_len - name);
    if (len >= sizeof variant)
        return COS_ENOENT;
    memcpy(variant, name, len);
    variant[len] = 0;
    return cos__site_robots(fault->site, fault->conn, fault->req, variant);
}

int cos__site_fault(struct cos__site *site, struct cos_http_conn *conn,
                    const struct cos_http_req *req)
{
    const char *name = req->target + 7, *end = req->target + req->path_len;
    size_t len = strcspn(name, "/.?");
    const struct cos__fault_row *row;
    struct cos__fault fault = {.site = site, .conn = conn, .req = req, .rest = name + len};
    fault.rest_len = (size_t)(end - fault.rest);
    if (name == end)
        return serve_index(&fault);
    if (len == 6 && !strncmp(name, "robots", 6) && fault.rest_len > 1)
        return serve_robots(&fault, fault.rest + 1);
    for (size_t t = 0; t < TABLES; t++)
        for (row = tables[t]; row->name; row++)
            if (strlen(row->name) == len && !strncmp(row->name, name, len))
                return row->run(&fault);
    return COS_ENOENT;
}
