#!/bin/sh
# examples.t - the small examples, each on both faces: what they print, and that
# wrong usage is exit 2, a failure exit 1 with one line that says why.
examples=${builddir:-.}/examples
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. "${srcdir:-.}/tests/tap.sh"
explain() { cat "$dir/out" "$dir/err"; }
run() { # EXAMPLE ARGUMENT...: status in $status
	example=$1
	shift
	"$examples/$example" --face="$face" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
}
says() { # WANTED-STATUS: stdin is what out must be, and err be empty when that is 0
	cat >"$dir/want"
	[ "$status" -eq "$1" ] && cmp -s "$dir/want" "$dir/out" && { [ "$1" -ne 0 ] || [ ! -s "$dir/err" ]; }
}
one_error() { # TEXT: exit 1 and one line with it
	[ "$status" -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -q "$1" "$dir/err"
}

mkdir -p "$dir/tree/a/b" "$dir/tree/c"
printf 'one\n' >"$dir/1"
printf 'two' >"$dir/2"
: >"$dir/0"
printf 'a needle here\n' >"$dir/tree/a/b/deep.txt"
printf 'needle' >"$dir/tree/top.txt"
printf 'hay\n' >"$dir/tree/c/hay.txt"
printf 'needle\000needle' >"$dir/tree/c/binary"
ln -s ../.. "$dir/tree/a/b/loop"
ln -s loop2 "$dir/tree/c/loop1"
ln -s ../a "$dir/tree/c/loop2"
mkdir -p "$dir/many"
i=0
while [ $i -lt 40 ]; do
	echo "needle $i" >"$dir/many/$i"
	i=$((i + 1))
done

for face in co cps; do
	run static_sequence --unit=20
	printf 'naive: 2 3 1\nsequence: 1 2 3\n' | says 0
	ok $? "C19 $face: naive calls end 2, 3, 1, the sequence 1, 2, 3"

	echo old >"$dir/dst"
	run concat_files "$dir/dst" "$dir/1" "$dir/2" "$dir/0" "$dir/1"
	says 0 </dev/null && printf 'one\ntwoone\n' | cmp -s - "$dir/dst"
	ok $? "C30 $face: the order is kept, also of a source named twice"
	run concat_files "$dir/dst" "$dir/2" "$dir/dst" "$dir/2"
	printf 'twoone\ntwoone\ntwo' | cmp -s - "$dir/dst"
	ok $? "C30 $face: the destination may be a source"
	# shellcheck disable=SC2086
	(cd "$dir/many" && seq -s " " 0 39 >"$dir/names")
	# shellcheck disable=SC2046
	(cd "$dir/many" && cat $(cat "$dir/names")) >"$dir/all"
	# shellcheck disable=SC2046
	run concat_files "$dir/dst" $(sed "s|[0-9][0-9]*|$dir/many/&|g" "$dir/names")
	cmp -s "$dir/all" "$dir/dst"
	ok $? "C30 $face: forty sources"
	run concat_files "$dir/new-$face"
	[ "$status" -eq 0 ] && [ -f "$dir/new-$face" ] && [ ! -s "$dir/new-$face" ]
	ok $? "C30 $face: no source makes an empty file"
	echo old >"$dir/dst"
	run concat_files "$dir/dst" "$dir/1" "$dir/missing" "$dir/2" "$dir/missing too"
	one_error "/missing.*: no such file" && echo old | cmp -s - "$dir/dst"
	ok $? "C30 $face: a missing source is one error, the destination untouched"
	run concat_files "$dir/tree" "$dir/1"
	one_error "$dir/tree: a directory"
	ok $? "C30 $face: a destination that is a directory is an error"

	run list_nested_files "$dir/tree"
	says 0 <<WANT
$dir/tree/a/b/deep.txt
$dir/tree/c/binary
$dir/tree/c/hay.txt
$dir/tree/top.txt
WANT
	ok $? "C31 $face: every file once, and loops of links end"
	ln -s nowhere "$dir/tree/dangling"
	run list_nested_files "$dir/tree"
	[ "$status" -eq 0 ] && grep -qx "$dir/tree/dangling" "$dir/out"
	ok $? "C31 $face: a link that leads nowhere is listed"
	rm "$dir/tree/dangling"
	mkdir -p "$dir/empty"
	run list_nested_files "$dir/empty"
	says 0 </dev/null
	ok $? "C31 $face: an empty directory"
	run list_nested_files "$dir/missing"
	one_error "/missing: no such file"
	ok $? "C31 $face: a missing directory is one error"

	run recursive_find "$dir/tree" needle
	says 0 <<WANT
$dir/tree/a/b/deep.txt
$dir/tree/top.txt
WANT
	ok $? "C32 $face: the text files that contain it, not the binary one"
	run recursive_find "$dir/tree" no-such-word
	says 0 </dev/null
	ok $? "C32 $face: no match is an empty result"
	run recursive_find --limit=3 --stats=1 "$dir/many" needle
	[ "$(wc -l <"$dir/out")" -eq 40 ] && grep -qx "looked at 41, at most 3 at once" "$dir/err"
	ok $? "C32 $face: in parallel, in flight up to the limit and not above"
	run recursive_find --limit=1 --stats=1 "$dir/many" needle
	grep -qx "looked at 41, at most 1 at once" "$dir/err"
	ok $? "C32 $face: a limit of one"
	ln -s nowhere "$dir/tree/dangling"
	run recursive_find "$dir/tree" needle
	one_error "/dangling: no such file" && [ "$(wc -l <"$dir/out")" -eq 2 ]
	ok $? "C32 $face: an error concerns its file, the others are searched"
	rm "$dir/tree/dangling"

	run hello_task_queue
	printf 'even 500000\nodd 500000\nempty 1\n' | says 0
	ok $? "C33 $face: 500,000 even, 500,000 odd, one empty"
	run hello_task_queue --count=7 --concurrency=20
	printf 'even 3\nodd 4\nempty 1\n' | says 0
	ok $? "C33 $face: more workers than numbers"

	run leak_finder --leaks=2
	[ "$(grep -c '^timer at .*leak_finder\.c:[0-9]' "$dir/out")" -eq 2 ] && [ ! -s "$dir/err" ]
	ok $? "C55c leak_finder $face: names the places of two forgotten timers"
	run leak_finder --leaks=0
	grep -q '^0 left' "$dir/out" && ! grep -q ' at ' "$dir/out"
	ok $? "leak_finder $face: nothing forgotten, nothing named"
	run log_prefix --requests=3
	sort "$dir/out" >"$dir/sorted" && mv "$dir/sorted" "$dir/out"
	printf '[0] end\n[1] read\n[1] written\n[2] read\n[2] written\n[3] read\n[3] written\n' | says 0
	ok $? "C55b log_prefix $face: each request logs under its own number"
	run slow_lookup --limit=10000 localhost
	echo '0 of 1' | says 0
	ok $? "slow_lookup $face: localhost is not slow"
done

for example in concat_files list_nested_files recursive_find hello_task_queue static_sequence \
	leak_finder log_prefix slow_lookup; do
	"$examples/$example" --help >"$dir/out" 2>"$dir/err" && grep -q "^usage: $example " "$dir/out"
	ok $? "$example --help"
	for wrong in --face=both --nonsense --unit=x; do
		"$examples/$example" $wrong a b >"$dir/out" 2>"$dir/err"
		[ $? -eq 2 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] && [ ! -s "$dir/out" ]
		ok $? "$example $wrong is wrong usage"
	done
done
for few in concat_files list_nested_files "recursive_find d" "hello_task_queue x" "list_nested_files a b"; do
	# shellcheck disable=SC2086
	"$examples"/$few >"$dir/out" 2>"$dir/err"
	[ $? -eq 2 ]
	ok $? "'$few': a wrong number of arguments is wrong usage"
done
"$examples/spider/spider" --help >"$dir/out" 2>"$dir/err" && grep -q "^usage: spider " "$dir/out"
ok $? "spider --help"
for wrong in --nonsense "http://127.0.0.1/ x" "http://127.0.0.1/ 1 0" "http://127.0.0.1/ 1 2 3"; do
	# shellcheck disable=SC2086
	"$examples/spider/spider" $wrong >"$dir/out" 2>"$dir/err"
	[ $? -eq 2 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] && [ ! -s "$dir/out" ]
	ok $? "spider $wrong is wrong usage"
done
done_testing
