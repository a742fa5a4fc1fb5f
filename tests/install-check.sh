# install-check.sh - sourced by the tests of an installation: what somebody
# else's program needs, proven by building and running some. They set $work
# (scratch), $top (sources), $root (DESTDIR or nothing) and $prefix before.
# shellcheck shell=sh disable=SC2034,SC2154
. "$top/tests/tap.sh"
site=
explain() { tail -n 20 "$work/log"; }
: >"$work/log"
ended() {
	[ -z "$site" ] || kill "$site" 2>/dev/null
	chmod -R u+w "$work"
	rm -rf "$work"
}
# make inside `make check`: its own job server, its own variables.
alone() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES "$@" >>"$work/log" 2>&1
}
make_variable() { # NAME: its value in ./Makefile
	sed -n "s/^$1 = *//p" Makefile
}
# What the library was built with, a program must be linked with.
instrumented() {
	make_variable COS_LDFLAGS | tr ' ' '\n' | grep -E '^(-fsanitize=|--coverage)' | tr '\n' ' '
}
pc() {
	PKG_CONFIG_SYSROOT_DIR=$root \
		PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} \
		pkg-config "$@" coscrawl
}

serve() { # $url, from the installed program
	: >"$work/url"
	"$root$prefix/bin/coscrawl" site --pages=5 >"$work/url" 2>>"$work/log" &
	site=$!
	tries=0
	while [ ! -s "$work/url" ] && [ $tries -lt 200 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	url=$(head -n 1 "$work/url")
}

# program COMPILER FILE WANT DESCRIPTION [PKG-CONFIG OPTION]: a program built only
# with what pkg-config says, run against the site.
program() {
	{
		# shellcheck disable=SC2046,SC2086
		$1 $(instrumented) -Wall -Wextra -Werror -o "$work/program" "$top/tests/install/$2" \
			$(pc ${5:-} --cflags --libs) &&
			[ "$(LD_LIBRARY_PATH=$root$prefix/lib:${LD_LIBRARY_PATH:-} "$work/program" "$url")" = "$3" ]
	} >>"$work/log" 2>&1
	ok $? "$4"
}
programs() {
	serve
	cxx=$(make_variable CXX)
	program "${CC:-cc} -std=c11" co.c "200 200 200" "coroutines in C, built with pkg-config --cflags --libs alone"
	program "$cxx -std=c++11" co.cc "200 200 200" "in C++"
	program "${CC:-cc} -std=c99 -pedantic" cps.c "200 200 200 6" "callbacks in C"
	program "$cxx -std=c++11 -x c++" cps.c "200 200 200 6" "in C++"
	kill "$site" && wait "$site"
	site=
}

# Each installed header stands alone, in C and in C++; but those that stand
# before calls of functions, with COS_SITES, come through coscrawl.h only.
headers() {
	cd "$root$prefix/include" || return
	# shellcheck disable=SC2046,SC2086
	{
		find coscrawl* -name '*.h' ! -name '*site.h' | sed 's/.*/#include <&>/' >"$work/all.c" &&
			while read -r include; do
				printf "%s\nextern int nothing;\n" "$include" >"$work/one.c"
				${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(pc --cflags) "$work/one.c" || echo bad
			done <"$work/all.c"
		$cxx -std=c++11 -x c++ -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(pc --cflags) "$work/all.c" || echo bad
		${CC:-cc} -std=c99 -DCOS_SITES -Wall -Wextra -Wpedantic -Werror -fsyntax-only $(pc --cflags) "$work/all.c" || echo bad
		grep -rnE '#include "(base|crawl|flow|store|web|cps_)|\b(cos|cps)__[a-z_]+\(' . && echo bad
	} >"$work/log" 2>&1
	cd - >/dev/null || return
	! grep -q . "$work/log"
	ok $? "every header stands alone, names its parts as <coscrawl/…> and nothing of ours"
}

# symbols LIBRARY: it shows what the headers declare, dill_* when the runtime is
# ours, and nothing else; each with its version.
symbols() {
	nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort >"$work/shown"
	sed -n 's/^    \(c[a-z0-9_]*\);$/\1@@COSCRAWL_0.1/p' libcoscrawl.map | sort >"$work/declared"
	grep -v '^dill_' "$work/shown" | diff - "$work/declared" >"$work/log" && [ -s "$work/declared" ]
	ok $? "nm -D: the functions of the headers, with a version, and nothing else"
	grep '^dill_' "$work/shown" | grep -vE '^dill_[a-z][a-z_]*@@COSCRAWL_0\.1$' >"$work/log"
	if grep -q 'include <libdill.h>' "$root$prefix/include/coscrawl/libdill.h"; then
		! grep -q '^dill_' "$work/shown"
		ok $? "and no runtime: it is the system's"
	else
		[ ! -s "$work/log" ] && grep -q '^dill_hclose@' "$work/shown"
		ok $? "and the runtime"
	fi
}

# What uninstall leaves: directories that others use, too, and nothing else.
left() {
	find "$root$prefix" ! -type d >"$work/log"
	find "$root$prefix" -name '*coscrawl*' >>"$work/log"
	[ ! -s "$work/log" ]
	ok $? "make uninstall leaves nothing"
}
