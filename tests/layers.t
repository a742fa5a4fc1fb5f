#!/bin/sh
# layers.t - the include arrows of ARCHITECTURE.md, checked on the sources.
# A room includes only what stands to its right; the libraries with a room of
# their own (curl, tidy, sqlite) are included nowhere else.
srcdir=${srcdir:-.}
cd "$srcdir" || exit 1
n=0 failed=0
verdict() { # DESCRIPTION OFFENDERS
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		failed=1
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

# includes ROOM-DIR: "file:room" for every quoted include of a room's header.
includes() {
	find "$1" -name '*.[ch]' -exec grep -HoE '^#include "[a-z_]+/' {} + 2>/dev/null |
		sed -E 's/:#include "([a-z_]+)\/$/ \1/'
}
only() { # DIR ALLOWED-ROOM...
	dir=$1
	shift
	allowed=" $* "
	bad=$(includes "$dir" | while read -r file room; do
		case "$allowed" in *" $room "*) ;; *) echo "$file includes $room/" ;; esac
	done)
	verdict "$dir includes only: $*" "$bad"
}

only src/dill
only src/base base
only src/flow flow base
only src/web web base
only src/store store web base
only src/site site base
only src/crawl crawl flow web store base
only compat compat crawl flow web store base
bad=$(grep -rlE '^# *include .*coscrawl-cps.h' src/crawl src/flow src/web src/store src/site src/base src/dill 2>/dev/null)
verdict "nothing below compat includes the callback face" "$bad"
bad=$(grep -rlE '^#include "(tool|bench)/' src compat examples --include='*.[ch]' 2>/dev/null | grep -vE '^src/(tool|bench)/')
verdict "nothing includes the tool or the benchmark" "$bad"
bad=$(grep -rlE '^# *include <curl/' src compat examples --include='*.[ch]' | grep -vE '^src/web/(fetch|pump)[a-z_]*\.[ch]$|^src/bench/')
verdict "<curl/> only in fetch, pump and the bare loops of the benchmarks" "$bad"
bad=$(grep -rlE '^# *include <(tidy/)?tidy' src compat examples --include='*.[ch]' | grep -vE '^src/web/tidy\.c$')
verdict "<tidy.h> only in web/tidy.c" "$bad"
bad=$(grep -rlE '^# *include <sqlite3.h>' src compat --include='*.[ch]' | grep -vE '^src/(store/|crawl/frontier)')
verdict "<sqlite3.h> only in store and frontier" "$bad"
echo "1..$n"
exit $failed
