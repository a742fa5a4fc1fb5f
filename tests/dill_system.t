#!/bin/sh
# dill_system.t - configure's choice of runtime. Our own, installed as libdill
# somewhere else, stands in for the system's: the project must build and run
# against it from its header and library alone.
srcdir=${srcdir:-.}
top=$(cd "$srcdir" && pwd)
work=$(mktemp -d) || exit 1
. "$top/tests/install-check.sh"
trap ended EXIT
configured() { # ARGUMENT...
	"$top/configure" --disable-shared CC="${CC:-cc}" "$@" >"$work/log" 2>&1
}
mkdir "$work/build" && cd "$work/build" || exit 1

mkdir "$work/none" && echo '#error "not here"' >"$work/none/libdill.h"
! configured --with-libdill=system CPPFLAGS="-I$work/none" && grep -q 'no libdill with dill_bundle_wait found' "$work/log"
ok $? "--with-libdill=system without one is an error that says what to do"
! configured --with-libdill=nonsense && grep -q 'auto, system or bundled' "$work/log"
ok $? "so is another word"
sh "$top/tests/install-dill.sh" "$work/prefix" >"$work/log" 2>&1
ok $? "our runtime installs as libdill"
configured --with-libdill=system CPPFLAGS="-I$work/prefix/include" LDFLAGS="-L$work/prefix/lib -Wl,-rpath,$work/prefix/lib" &&
	grep -q 'libdill: system' "$work/log"
ok $? "configure finds it by a link test"
make -j2 >"$work/log" 2>&1
ok $? "the project builds against it"
grep -q '^Libs:.*-ldill' coscrawl.pc
ok $? "coscrawl.pc names it where it has no .pc file of its own"
! nm libcoscrawl.la .libs/libcos.a 2>/dev/null | grep -q ' T dill_'
ok $? "and brings no runtime of its own"
{ make tests/dill_raw.t && make check-TESTS TESTS=tests/dill_raw.t; } >"$work/log" 2>&1
ok $? "a test runs against it"
# Where it has a .pc file ours requires it, and programs get it through that.
root='' prefix=$work/installed
PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
LD_LIBRARY_PATH=$work/prefix/lib
export PKG_CONFIG_PATH LD_LIBRARY_PATH
configured --prefix="$prefix" CPPFLAGS="-I$work/prefix/include" LDFLAGS="-L$work/prefix/lib" &&
	grep -q 'libdill: system' "$work/log"
ok $? "auto takes the system's when it is there"
alone make -j2 && alone make install && grep -q '^Requires: libdill$' coscrawl.pc
ok $? "coscrawl.pc requires it where it has a .pc file of its own"
programs
headers
alone make uninstall
left
configured --with-libdill=bundled CPPFLAGS="-I$work/prefix/include" LDFLAGS="-L$work/prefix/lib" &&
	grep -q 'libdill: bundled' "$work/log"
ok $? "bundled takes ours all the same"
done_testing
