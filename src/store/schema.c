/* schema.c - the tables and views of the crawl database, as people query them.
 *
 * One row per URL ever seen. The links of a page are packed into its row as a
 * JSON array of dst * 32 + nofollow * 16 + kind, and the view `links` unpacks them: a row per
 * link would cost ten times as much (measured: 25–30 µs a page against 3).
 * There is no index on url: the frontier knows what is known, and `why` can
 * afford a scan. Columns added later go to the end, with a new user_version. */
#include "store/db_int.h"

#include "base/page.h"

_Static_assert((int)COS_LINK_REDIRECT < (int)COS_DB_NEEDED_LINK, "the kind of a link has four bits in the packed array");

#define LINKS_VIEW                                                                                 \
    "CREATE VIEW links AS SELECT p.id AS src, l.value >> 5 AS dst, CASE l.value & 15"              \
    " WHEN 1 THEN 'a' WHEN 2 THEN 'link' WHEN 3 THEN 'img' WHEN 4 THEN 'script'"                   \
    " WHEN 5 THEN 'frame' WHEN 6 THEN 'media' WHEN 7 THEN 'css' WHEN 8 THEN 'refresh'"             \
    " WHEN 9 THEN 'form' WHEN 10 THEN 'canonical' WHEN 11 THEN 'hreflang'"                         \
    " WHEN 12 THEN 'sitemap' WHEN 13 THEN 'redirect' WHEN 14 THEN 'link' ELSE 'other' END AS kind" \
    " FROM pages p, json_each(p.packed_links) l;"

#define LINT_TABLE                                                                                 \
    "CREATE TABLE lint(page INTEGER NOT NULL, n INTEGER NOT NULL, level TEXT NOT NULL,"            \
    " line INTEGER, column INTEGER, message TEXT NOT NULL, PRIMARY KEY(page, n)) WITHOUT ROWID;"   \
    "CREATE VIEW markup AS SELECT p.url AS url, l.level AS level, l.line AS line,"                 \
    " l.column AS column, l.message AS message FROM lint l JOIN pages p ON p.id = l.page"          \
    " ORDER BY p.url, l.n;"

const char cos__db_schema[] =
    "CREATE TABLE pages("
    " id INTEGER PRIMARY KEY, url TEXT NOT NULL, state TEXT NOT NULL, status INTEGER, reason TEXT,"
    " depth INTEGER, path TEXT, bytes INTEGER, hash TEXT, mime TEXT, title TEXT, etag TEXT,"
    " modified TEXT, fetched_at TEXT, tries INTEGER, referrer INTEGER,"
    " wire INTEGER, remote TEXT, protocol TEXT, queue_us INTEGER, wait_us INTEGER,"
    " name_us INTEGER, connect_us INTEGER, tls_us INTEGER, first_byte_us INTEGER,"
    " transfer_us INTEGER, scan_us INTEGER, store_us INTEGER, total_us INTEGER,"
    " packed_links TEXT, charset TEXT, checked_at TEXT, lint_errors INTEGER,"
    " lint_warnings INTEGER);"
    LINT_TABLE
    "CREATE TABLE redirects(src INTEGER PRIMARY KEY, dst INTEGER NOT NULL, status INTEGER);"
    "CREATE TABLE runs(id INTEGER PRIMARY KEY, started_at TEXT NOT NULL, ended_at TEXT,"
    " command TEXT, version TEXT, pid INTEGER, how TEXT, exit_code INTEGER, pages INTEGER,"
    " failed INTEGER, bytes INTEGER);"
    "CREATE TABLE settings(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE notes(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    LINKS_VIEW
    "CREATE VIEW broken_links AS SELECT s.url AS page, d.url AS link, l.kind AS kind,"
    " d.status AS status, d.reason AS reason FROM links l JOIN pages d ON d.id = l.dst"
    " JOIN pages s ON s.id = l.src WHERE d.state = 'failed';"
    "CREATE VIEW redirect_chains AS WITH RECURSIVE walk(first, at, hops, chain) AS ("
    " SELECT r.src, r.dst, 1, (SELECT url FROM pages WHERE id = r.src) || ' -> ' ||"
    " (SELECT url FROM pages WHERE id = r.dst) FROM redirects r"
    " WHERE NOT EXISTS (SELECT 1 FROM redirects b WHERE b.dst = r.src)"
    " UNION ALL SELECT w.first, r.dst, w.hops + 1, w.chain || ' -> ' ||"
    " (SELECT url FROM pages WHERE id = r.dst) FROM walk w JOIN redirects r ON r.src = w.at"
    " WHERE w.hops < 50)"
    " SELECT f.url AS first, e.url AS last, w.hops AS hops, e.state AS state, e.status AS status,"
    " w.chain AS chain FROM walk w JOIN pages f ON f.id = w.first JOIN pages e ON e.id = w.at"
    " WHERE w.hops = 50 OR NOT EXISTS (SELECT 1 FROM redirects r WHERE r.src = w.at);"
    "CREATE VIEW duplicates AS SELECT p.hash AS hash, g.copies AS copies, p.bytes AS bytes,"
    " p.url AS url, p.path AS path FROM pages p JOIN (SELECT hash, count(*) AS copies FROM pages"
    " WHERE hash IS NOT NULL AND state = 'done' GROUP BY hash HAVING count(*) > 1) g"
    " ON g.hash = p.hash WHERE p.state = 'done' ORDER BY p.hash, p.url;"
    "CREATE VIEW slow_pages AS SELECT url, total_us / 1000.0 AS total_ms,"
    " first_byte_us / 1000.0 AS first_byte_ms, wait_us / 1000.0 AS wait_ms, tries, bytes, status"
    " FROM pages WHERE total_us IS NOT NULL ORDER BY total_us DESC;"
    "CREATE VIEW skipped AS SELECT p.url AS url, p.reason AS reason, p.depth AS depth,"
    " r.url AS referrer FROM pages p LEFT JOIN pages r ON r.id = p.referrer"
    " WHERE p.state = 'skipped';"
    "CREATE VIEW failed AS SELECT p.url AS url, p.status AS status, p.reason AS reason,"
    " p.tries AS tries, r.url AS referrer FROM pages p LEFT JOIN pages r ON r.id = p.referrer"
    " WHERE p.state = 'failed';"
    "CREATE VIEW orphans AS SELECT url, path FROM pages WHERE state = 'done' AND referrer <> 0"
    " AND id NOT IN (SELECT dst FROM links WHERE kind <> 'sitemap')"
    " AND id NOT IN (SELECT dst FROM redirects);";

const char cos__db_upgrade[] =
    "ALTER TABLE pages ADD COLUMN charset TEXT; ALTER TABLE pages ADD COLUMN checked_at TEXT;"
    "ALTER TABLE pages ADD COLUMN lint_errors INTEGER;"
    "ALTER TABLE pages ADD COLUMN lint_warnings INTEGER; DROP VIEW links;" LINKS_VIEW LINT_TABLE;

/* Files of pages that are no more, and where the time went. Made when a database is
 * opened, so that older ones have them too. */
/* A phase that did not happen is NULL or -1; scan and store are 0 then. */
#define NEXT_PHASE(name, least)                                                                    \
    " UNION ALL SELECT url, '" name "', " name "_us FROM pages WHERE " name "_us " least
#define TIMES_VIEW(view, by)                                                                       \
    "CREATE VIEW IF NOT EXISTS " view " AS SELECT " by ", max(n) AS pages,"                        \
    " sum(us) / 1000.0 AS total_ms,"                                                               \
    " min(CASE WHEN k >= 0.5 * n THEN us END) / 1000.0 AS p50_ms,"                                 \
    " min(CASE WHEN k >= 0.95 * n THEN us END) / 1000.0 AS p95_ms,"                                \
    " min(CASE WHEN k >= 0.99 * n THEN us END) / 1000.0 AS p99_ms"                                 \
    " FROM (SELECT *, row_number() OVER (PARTITION BY " by " ORDER BY us) AS k,"                   \
    " count(*) OVER (PARTITION BY " by ") AS n FROM page_phases) GROUP BY " by ";"
const char cos__db_views[] =
    "CREATE VIEW IF NOT EXISTS gone AS SELECT url, status, reason, path, fetched_at FROM pages"
    " WHERE state = 'failed' AND path IS NOT NULL;"
    "CREATE VIEW IF NOT EXISTS page_phases AS SELECT url,"
    " substr(url, instr(url, '//') + 2, instr(substr(url, instr(url, '//') + 2), '/') - 1) AS host,"
    " phase, us FROM (SELECT NULL AS url, NULL AS phase, NULL AS us WHERE 0"
    NEXT_PHASE("queue", ">= 0")
    NEXT_PHASE("wait", ">= 0")
    NEXT_PHASE("name", ">= 0")
    NEXT_PHASE("connect", ">= 0")
    NEXT_PHASE("tls", ">= 0")
    NEXT_PHASE("first_byte", ">= 0")
    NEXT_PHASE("transfer", ">= 0")
    NEXT_PHASE("scan", "> 0")
    NEXT_PHASE("store", "> 0")
    ");"
    TIMES_VIEW("phase_times", "phase")
    TIMES_VIEW("host_times", "host, phase");

/* One statement each, prepared once; the order is that of enum cos__db_stmt. */
const char *const cos__db_sql[COS__DB_STMTS] = {
    [COS__DB_BEGIN] = "BEGIN IMMEDIATE",
    [COS__DB_COMMIT] = "COMMIT",
    [COS__DB_ROLLBACK] = "ROLLBACK",
    [COS__DB_URL] = "INSERT INTO pages(id, url, state, reason, depth, referrer)"
                    " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [COS__DB_PAGE] =
        "UPDATE pages SET state = ?2, status = ?3, reason = ?4, depth = ?5, path = ?6, bytes = ?7,"
        " hash = ?8, mime = ?9, title = ?10, etag = ?11, modified = ?12, fetched_at = ?13,"
        " tries = ?14, referrer = ?15, wire = ?16, remote = ?17, protocol = ?18, queue_us = ?19,"
        " wait_us = ?20, name_us = ?21, connect_us = ?22, tls_us = ?23, first_byte_us = ?24,"
        " transfer_us = ?25, scan_us = ?26, store_us = ?27, total_us = ?28, packed_links = ?29,"
        " charset = ?30, lint_errors = ?31, lint_warnings = ?32"
        " WHERE id = ?1",
    [COS__DB_STATE] = "UPDATE pages SET state = ?2, reason = ?3, tries = ?4,"
                      " status = ifnull(nullif(?5, 0), status) WHERE id = ?1",
    [COS__DB_DEPTH] = "UPDATE pages SET depth = ?2, referrer = ?3 WHERE id = ?1",
    [COS__DB_REDIRECT] = "INSERT OR REPLACE INTO redirects(src, dst, status) VALUES(?1, ?2, ?3)",
    [COS__DB_RECALL] = "SELECT etag, modified, path, hash FROM pages WHERE id = ?1",
    [COS__DB_RECALL_PAGE] = "SELECT bytes, mime, title, lint_errors, lint_warnings FROM pages"
                            " WHERE id = ?1",
    [COS__DB_RECALL_LINKS] = "SELECT d.url, l.value & 31 FROM pages p, json_each(p.packed_links) l"
                             " JOIN pages d ON d.id = l.value >> 5 WHERE p.id = ?1 ORDER BY l.key",
    [COS__DB_CHECKED] = "UPDATE pages SET checked_at = ifnull(?2, checked_at), reason = ?3"
                        " WHERE id = ?1",
    [COS__DB_NO_REDIRECT] = "DELETE FROM redirects WHERE src = ?1",
    [COS__DB_LINT] = "INSERT OR REPLACE INTO lint(page, n, level, line, column, message)"
                     " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [COS__DB_NO_LINT] = "DELETE FROM lint WHERE page = ?1",
    [COS__DB_ASK] = "SELECT url, packed_links FROM pages WHERE id = ?1",
};
