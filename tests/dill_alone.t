#!/bin/sh
# dill_alone.t - the runtime without the rest of the project: it compiles by
# itself, warns about nothing, installs as a libdill, and a program written for
# libdill builds against that, static and shared, with strict warnings too.
srcdir=${srcdir:-.}
cc=${CC:-cc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/tap.sh"
explain() { head -n 20 "$work/log"; }
top=$(cd "$srcdir" && pwd)
warn="-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes -Werror"

# shellcheck disable=SC2086
(cd "$work" && $cc -std=gnu11 -D_GNU_SOURCE $warn -O1 -I"$top/src/dill" -c "$top"/src/dill/*.c) >"$work/log" 2>&1
ok $? "src/dill compiles alone, without a warning"
grep -hE '^ *# *include' "$top"/src/dill/*.[ch] | grep -E '"' |
	grep -vE '"(ctx|hot|port|san|libdill|libdillimpl)\.h"' >"$work/log"
[ ! -s "$work/log" ]
ok $? "and includes nothing of the project"
nm "$work"/*.o 2>/dev/null | awk '$2 ~ /^[TDBRC]$/ && $3 !~ /^dill_/ { print $3 }' >"$work/log"
[ ! -s "$work/log" ]
ok $? "every symbol begins with dill_"

CC=$cc sh "$top/tests/install-dill.sh" "$work/prefix" >"$work/log" 2>&1
ok $? "it installs as libdill"
cat >"$work/use.c" <<'EOC'
#include <libdill.h>
static coroutine void f(int ch, int v)
{
    chsend(ch, &v, sizeof v, -1);
}
int main(void)
{
    int ch[2], v = 0;
    if (chmake(ch) != 0)
        return 1;
    int h = go(f(ch[0], 42));
    if (chrecv(ch[1], &v, sizeof v, -1) != 0 || bundle_wait(h, -1) != 0)
        return 2;
    return v == 42 ? hclose(h) : 3;
}
EOC
use() { # DESCRIPTION LIBRARY FLAG...
	description=$1 library=$2
	shift 2
	# shellcheck disable=SC2086
	$cc -std=gnu11 $warn "$@" -I"$work/prefix/include" "$work/use.c" -o "$work/use" $library -pthread \
		>"$work/log" 2>&1 && LD_LIBRARY_PATH=$work/prefix/lib "$work/use" >>"$work/log" 2>&1
	ok $? "$description"
}
use "a program links it shared" "-L$work/prefix/lib -ldill" -O2
use "a program links it static" "$work/prefix/lib/libdill.a" -O2
use "position independent" "-L$work/prefix/lib -ldill" -O2 -fPIC
use "pedantic" "$work/prefix/lib/libdill.a" -O0 -Wpedantic
use "with every protection" "$work/prefix/lib/libdill.a" -O2 -D_FORTIFY_SOURCE=2 \
	-fstack-protector-strong -fcf-protection -fstack-clash-protection
done_testing
