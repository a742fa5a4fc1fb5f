#!/bin/sh
# install-dill.sh PREFIX [CFLAG...] - build src/dill alone, as a library that
# stands where a system libdill would, and install it: include/libdill.h,
# include/libdillimpl.h, lib/libdill.a, lib/libdill.so, lib/pkgconfig/libdill.pc. For
# trying --with-libdill=system: configure CPPFLAGS=-IPREFIX/include
# LDFLAGS=-LPREFIX/lib PKG_CONFIG_PATH=PREFIX/lib/pkgconfig.
set -eu
prefix=${1:?usage: install-dill.sh PREFIX [CFLAG...]}
shift
top=$(cd "$(dirname "$0")/.." && pwd)
cc=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"
for source in "$top"/src/dill/*.c; do
	# shellcheck disable=SC2086
	$cc -std=gnu11 -D_GNU_SOURCE -O2 -g -fPIC "$@" -I"$top/src/dill" -c "$source" \
		-o "$work/$(basename "$source" .c).o"
done
rm -f "$prefix/lib/libdill.a"
ar rcs "$prefix/lib/libdill.a" "$work"/*.o
# shellcheck disable=SC2086
$cc -shared "$@" -Wl,-soname,libdill.so -o "$prefix/lib/libdill.so" "$work"/*.o -pthread
cp "$top/src/dill/libdill.h" "$top/src/dill/libdillimpl.h" "$prefix/include/"
cat >"$prefix/lib/pkgconfig/libdill.pc" <<END
Name: libdill
Description: structured coroutines
Version: 24
Libs: -L$prefix/lib -ldill
Cflags: -I$prefix/include
END
