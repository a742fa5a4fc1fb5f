#!/bin/sh
# dill_system.t - configure's choice of runtime. Our own, installed as libdill
# somewhere else, stands in for the system's: the project must build and run
# against it from its header and library alone.
srcdir=${srcdir:-.}
top=$(cd "$srcdir" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0 failed=0
verdict() { # STATUS DESCRIPTION
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		failed=1
		echo "not ok $n - $2"
		tail -n 20 "$work/log" | sed 's/^/# /'
	fi
}
configured() { # ARGUMENT...
	"$top/configure" --disable-shared CC="${CC:-cc}" "$@" >"$work/log" 2>&1
}
mkdir "$work/build" && cd "$work/build" || exit 1

mkdir "$work/none" && echo '#error "not here"' >"$work/none/libdill.h"
! configured --with-libdill=system CPPFLAGS="-I$work/none" && grep -q 'no libdill with dill_bundle_wait found' "$work/log"
verdict $? "--with-libdill=system without one is an error that says what to do"
! configured --with-libdill=nonsense && grep -q 'auto, system or bundled' "$work/log"
verdict $? "so is another word"
sh "$top/tests/install-dill.sh" "$work/prefix" >"$work/log" 2>&1
verdict $? "our runtime installs as libdill"
configured --with-libdill=system CPPFLAGS="-I$work/prefix/include" LDFLAGS="-L$work/prefix/lib -Wl,-rpath,$work/prefix/lib" &&
	grep -q 'libdill: system' "$work/log"
verdict $? "configure finds it by a link test"
make -j2 >"$work/log" 2>&1
verdict $? "the project builds against it"
! nm libcoscrawl.la .libs/libcos.a 2>/dev/null | grep -q ' T dill_'
verdict $? "and brings no runtime of its own"
make check TESTS=tests/dill_raw.t >"$work/log" 2>&1
verdict $? "a test runs against it"
configured CPPFLAGS="-I$work/prefix/include" LDFLAGS="-L$work/prefix/lib" && grep -q 'libdill: system' "$work/log"
verdict $? "auto takes the system's when it is there"
configured --with-libdill=bundled CPPFLAGS="-I$work/prefix/include" LDFLAGS="-L$work/prefix/lib" &&
	grep -q 'libdill: bundled' "$work/log"
verdict $? "bundled takes ours all the same"
echo "1..$n"
exit $failed
