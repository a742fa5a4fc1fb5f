/* version.c - --version. The rooms say what they stand on (version.h of each);
 * here it becomes a table. */
#include "config.h"

#include "tool/version.h"

#include "base/buf.h"
#include "store/version.h"
#include "web/version.h"

#include <stdio.h>
#include <string.h>

/* Lines "name<TAB>version" as two columns. */
static void print_lines(const char *lines)
{
    while (*lines) {
        size_t name = strcspn(lines, "\t"), all = strcspn(lines, "\n");
        printf("  %-11.*s%.*s\n", (int)name, lines, (int)(all - name - 1), lines + name + 1);
        lines += all + (lines[all] == '\n');
    }
}

static void print_features(void)
{
    struct cos_buf features;
    cos_buf_init(&features, 1024);
    cos_fetch_features(&features);
#ifdef HAVE_SECCOMP
    cos_buf_adds(&features, " seccomp");
#endif
    printf("  %-11s%s\n", "features", features.data ? features.data : "");
    cos_buf_release(&features);
}

void tool_version(void)
{
    struct cos_buf lines;
    cos_buf_init(&lines, 4096);
    printf("coscrawl %s\n", VERSION);
#ifdef SYSTEM_LIBDILL
    printf("  %-11s%s\n", "libdill", "of the system");
#else
    printf("  %-11s%s\n", "libdill", "bundled");
#endif
    cos_fetch_versions(&lines);
    cos_web_versions(&lines);
    cos_buf_addf(&lines, "HTML Tidy\t%s\n", cos_tidy_version());
    cos_buf_addf(&lines, "SQLite\t%s\n", cos_store_version());
    cos_buf_addf(&lines, "Nettle\t%s\n", cos_store_nettle());
    if (lines.data)
        print_lines(lines.data);
    cos_buf_release(&lines);
    print_features();
}
