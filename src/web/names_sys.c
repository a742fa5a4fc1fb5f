/* names_sys.c - what the system knows about names: /etc/hosts, nsswitch.conf,
 * whether IPv6 leads anywhere, and getaddrinfo as the last resort. All of it
 * blocks and runs on threads. c-ares could read /etc/hosts itself, but does so
 * at every lookup and on the loop's thread. */
#include "config.h"

#include "web/names_int.h"

#include "base/file_sync.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 64 << 20, HOSTS_MEMORY = 256 << 20, NAME_MAX_BYTES = 253 };

/* --- /etc/hosts --- */

static void add_host(struct cos_set *hosts, const char *name, size_t len, int family,
                     const void *ip)
{
    char lower[NAME_MAX_BYTES + 1];
    struct cos__host *host;
    void *payload;
    if (!len || len > NAME_MAX_BYTES)
        return;
    for (size_t i = 0; i < len; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    /* A table at its ceiling keeps what it has: the rest goes to the servers. */
    if (cos_set_add(hosts, lower, len, &payload) < 0)
        return;
    host = payload;
    if (host->n < COS__HOST_ADDRS) {
        host->addr[host->n].family = (uint8_t)family;
        memcpy(host->addr[host->n].ip, ip, family == 6 ? 16 : 4);
        host->n++;
    }
}

static void add_line(struct cos_set *hosts, char *line)
{
    unsigned char ip[16];
    char *save, *word;
    int family;
    line[strcspn(line, "#")] = 0;
    word = strtok_r(line, " \t\r", &save);
    if (!word)
        return;
    family = inet_pton(AF_INET, word, ip) == 1 ? 4 : inet_pton(AF_INET6, word, ip) == 1 ? 6 : 0;
    while (family && (word = strtok_r(NULL, " \t\r", &save)))
        add_host(hosts, word, strlen(word), family, ip);
}

static void read_hosts(struct cos_set *hosts, const char *path)
{
    struct cos_buf text;
    char *save, *line;
    cos_buf_init(&text, FILE_MAX_BYTES);
    if (!cos__file_read_sync(path, &text) && text.data)
        for (line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
            add_line(hosts, line);
    cos_buf_release(&text);
}

/* --- nsswitch.conf --- */

static int names_other_sources(char *line)
{
    char *save, *word;
    line[strcspn(line, "#")] = 0;
    word = strtok_r(line, " \t\r", &save);
    if (!word || strcmp(word, "hosts:"))
        return 0;
    while ((word = strtok_r(NULL, " \t\r", &save)))
        if (strcmp(word, "files") && strcmp(word, "dns") && *word != '[')
            return 1;
    return 0;
}

static int has_other_sources(void)
{
    struct cos_buf text;
    char *save, *line;
    int found = 0;
    cos_buf_init(&text, 1 << 20);
    if (!cos__file_read_sync("/etc/nsswitch.conf", &text) && text.data)
        for (line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
            found |= names_other_sources(line);
    cos_buf_release(&text);
    return found;
}

/* Connecting a datagram socket sends nothing and says whether there is a way. */
static int has_ipv6(void)
{
    struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(53)};
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), way;
    if (fd < 0)
        return 0;
    inet_pton(AF_INET6, "2001:500:2::c", &to.sin6_addr);
    way = connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
    close(fd);
    return way;
}

int64_t cos__sys_mtime(const char *hosts_file)
{
    struct cos_stat st;
    return *hosts_file && !cos__stat_sync(hosts_file, &st) ? st.mtime_ns : 0;
}

struct cos__sysnames *cos__sys_read(const char *hosts_file)
{
    struct cos__sysnames *sys = calloc(1, sizeof *sys);
    if (!sys)
        return NULL;
    cos_set_init(&sys->hosts, sizeof(struct cos__host), HOSTS_MEMORY);
    sys->hosts_mtime = cos__sys_mtime(hosts_file);
    if (*hosts_file)
        read_hosts(&sys->hosts, hosts_file);
    sys->has_other_sources = has_other_sources();
    sys->has_ipv6 = has_ipv6();
    return sys;
}

void cos__sys_free(struct cos__sysnames *sys)
{
    if (!sys)
        return;
    cos_set_release(&sys->hosts);
    free(sys);
}

/* --- getaddrinfo --- */

static int gai_err(int rc)
{
    switch (rc) {
    case 0:
        return 0;
    case EAI_NONAME:
        return COS_ENXDOMAIN;
#ifdef EAI_NODATA
    case EAI_NODATA:
        return COS_ENODATA;
#endif
    case EAI_MEMORY:
        return COS_ENOMEM;
    case EAI_AGAIN:
        return COS_ENONS;
    default:
        return COS_ESERVFAIL;
    }
}

int cos__sys_lookup(const char *host, int family, struct cos_addrs *out)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    int rc;
    hints.ai_family = family == 4 ? AF_INET : family == 6 ? AF_INET6 : AF_UNSPEC;
    out->n = 0;
    rc = getaddrinfo(host, NULL, &hints, &list);
    for (struct addrinfo *ai = rc ? NULL : list; ai; ai = ai->ai_next)
        if (ai->ai_family == AF_INET)
            cos__addrs_add(out, 4, &((struct sockaddr_in *)(void *)ai->ai_addr)->sin_addr);
        else if (ai->ai_family == AF_INET6)
            cos__addrs_add(out, 6, &((struct sockaddr_in6 *)(void *)ai->ai_addr)->sin6_addr);
    if (list)
        freeaddrinfo(list);
    return rc ? gai_err(rc) : out->n ? 0 : COS_ENODATA;
}
