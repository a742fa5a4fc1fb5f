#!/bin/sh
# install.t - `make install` into a DESTDIR, from this build tree as it is
# configured: static only, shared, or both. Where the tree has no shared library
# one is linked from its objects, for the symbols. tests/tarball.t does the same
# from a tarball, with both libraries and a real prefix.
srcdir=${srcdir:-.}
top=$(cd "$srcdir" && pwd)
cd "${builddir:-.}" || exit 1
work=$(mktemp -d) || exit 1
. "$top/tests/install-check.sh"
trap ended EXIT
root=$work/root
prefix=$(make_variable prefix)

alone make install DESTDIR="$root"
ok $? "make install DESTDIR=…"
missing=
for file in bin/coscrawl lib/libcoscrawl.la lib/pkgconfig/coscrawl.pc include/coscrawl.h include/coscrawl-cps.h \
	include/coscrawl/libdill.h share/man/man1/coscrawl.1 share/man/man3/coscrawl.3 share/man/man3/cos_fetch.3 share/man/man7/coscrawl-flow.7 \
	share/bash-completion/completions/coscrawl; do
	[ -s "$root$prefix/$file" ] || missing="$missing $file"
done
echo "missing:$missing" >>"$work/log"
[ -z "$missing" ]
ok $? "program, library, headers, coscrawl.pc, manual and completion are there"
[ "$(pc --modversion)" = "$("$root$prefix/bin/coscrawl" --version | sed -n '1s/^coscrawl //p')" ]
ok $? "the program and coscrawl.pc agree about the version"
if command -v ldd >/dev/null; then
	! ldd "$root$prefix/bin/coscrawl" | grep -E 'libcoscrawl|not found' >>"$work/log"
	ok $? "the program runs without ldconfig: it holds the library"
fi
programs
headers
if [ -f "$root$prefix/lib/libcoscrawl.so" ]; then
	symbols "$root$prefix/lib/libcoscrawl.so"
else
	# shellcheck disable=SC2046
	${CC:-cc} $(instrumented) -shared -o "$work/libcoscrawl.so" -Wl,--version-script=libcoscrawl.map \
		-Wl,--whole-archive .libs/libcos.a -Wl,--no-whole-archive $(make_variable COS_LIBS) >>"$work/log" 2>&1
	symbols "$work/libcoscrawl.so"
fi
alone make uninstall DESTDIR="$root"
left
done_testing
