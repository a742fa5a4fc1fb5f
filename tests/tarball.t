#!/bin/sh
# tarball.t - what `make dist` packs, on a machine without autotools: configure,
# make, make install into a prefix, and everything of tests/install.t there, with
# both libraries. Whatever autotool is called all the same is written down.
# Without optimisation: what is built is not measured.
srcdir=${srcdir:-.}
top=$(cd "$srcdir" && pwd)
cd "${builddir:-.}" || exit 1
work=$(mktemp -d) || exit 1
. "$top/tests/install-check.sh"
trap 'rm -rf "$packed"*; ended' EXIT
packed=$(pwd)/tarball-$$
root=
prefix=$work/prefix

alone make dist-xz distdir="${packed##*/}" XZ_OPT=-0 && tar -xf "$packed.tar.xz" -C "$work"
ok $? "make dist"
mkdir "$work/bin" "$work/build"
for tool in autoconf autoheader autom4te automake automake-1.16 autoreconf aclocal aclocal-1.16 \
	libtool libtoolize m4; do
	printf '#!/bin/sh\necho "%s $*" >>"%s"\nexit 127\n' "$tool" "$work/called" >"$work/bin/$tool"
done
chmod +x "$work/bin"/*
PATH=$work/bin:$PATH
cd "$work/build" || exit 1
alone "$work/${packed##*/}/configure" --prefix="$prefix" CC="${CC:-cc}" CFLAGS=-O0
ok $? "./configure --prefix=…"
alone make -j2
ok $? "make"
alone make install
ok $? "make install"
[ ! -e "$work/called" ]
ok $? "no autotool was called"
"$prefix/bin/coscrawl" --version >>"$work/log" 2>&1
ok $? "coscrawl --version, with no ldconfig before"
if command -v man >/dev/null; then
	PATH=$prefix/bin:$PATH man -P cat coscrawl 2>>"$work/log" | grep -q 'coscrawl'
	ok $? "man coscrawl, with the prefix's bin in PATH"
fi
[ -f "$prefix/lib/libcoscrawl.so" ] && [ -f "$prefix/lib/libcoscrawl.a" ]
ok $? "there is a shared and a static library"
[ "$(pc --libs | tr -d ' ')" = "-L$prefix/lib-lcoscrawl" ]
ok $? "a program links libcoscrawl and nothing else"
programs
headers
symbols "$prefix/lib/libcoscrawl.so"
mkdir "$work/aside" && mv "$prefix"/lib/libcoscrawl.so* "$work/aside/"
serve
program "${CC:-cc} -std=c11" co.c "200 200 200" "the static library, with pkg-config --static" --static
kill "$site" && wait "$site"
site=
mv "$work/aside"/* "$prefix/lib/"
alone make uninstall
left
done_testing
