#!/bin/sh
# schema.t - the section DATABASE of coscrawl(1) names every table, view and
# column of the database, and no other.
srcdir=${srcdir:-.}
coscrawl=${COSCRAWL:-./coscrawl}
if ! command -v sqlite3 >/dev/null 2>&1; then
	echo "1..0 # SKIP no sqlite3 here"
	exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
# Nobody answers on this port; the database is there all the same.
"$coscrawl" --no-config -q -t 1 -P "$dir/c" http://127.0.0.1:1/ >"$dir/out" 2>&1
sqlite3 "$dir/c/.coscrawl/crawl.db" "SELECT m.name || '.' || c.name FROM sqlite_master m,
	pragma_table_info(m.name) c WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%'" |
	LC_ALL=C sort >"$dir/there"
awk '/^\.Sh / { on = $2 == "DATABASE" }
	on && /^\.It Cm/ { table = $3 }
	on && /^\.Va / { for (i = 2; i <= NF; i++) if ($i ~ /^[a-z0-9_]+$/) print table "." $i }' \
	"$srcdir/man/coscrawl.1" | LC_ALL=C sort >"$dir/told"
n=0 failed=0
check() {
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		failed=1
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}
few=$([ "$(wc -l <"$dir/there")" -gt 80 ] || cat "$dir/out" "$dir/there")
check "there is a database with all its columns" "$few"
check "every column is in the manual" "$(LC_ALL=C comm -23 "$dir/there" "$dir/told")"
check "every column of the manual is in the database" "$(LC_ALL=C comm -13 "$dir/there" "$dir/told")"
echo "1..$n"
exit $failed
