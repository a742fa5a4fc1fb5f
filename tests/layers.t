#!/bin/sh
# layers.t - the include arrows of ARCHITECTURE.md, checked on the sources.
# A room includes only what stands to its right; the libraries with a room of
# their own (curl, tidy, sqlite) are included nowhere else.
srcdir=${srcdir:-.}
cd "$srcdir" || exit 1
. tests/tap.sh

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
	none "$bad" "$dir includes only: $*"
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
none "$bad" "nothing below compat includes the callback face"
bad=$(grep -rlE '^#include "(tool|bench)/' src compat examples --include='*.[ch]' 2>/dev/null | grep -vE '^src/(tool|bench)/')
none "$bad" "nothing includes the tool or the benchmark"
bad=$(grep -rlE '^# *include <curl/' src compat examples --include='*.[ch]' | grep -vE '^src/web/(fetch|pump)[a-z_]*\.[ch]$|^src/bench/')
none "$bad" "<curl/> only in fetch, pump and the bare loops of the benchmarks"
bad=$(grep -rlE '^# *include <(tidy/)?tidy' src compat examples --include='*.[ch]' | grep -vE '^src/web/tidy\.c$')
none "$bad" "<tidy.h> only in web/tidy.c"
bad=$(grep -rlE '^# *include <sqlite3.h>' src compat --include='*.[ch]' | grep -vE '^src/(store/|crawl/frontier)')
none "$bad" "<sqlite3.h> only in store and frontier"
done_testing
