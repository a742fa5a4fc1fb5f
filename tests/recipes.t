#!/bin/sh
# recipes.t - the example servers over real HTTP, each on both faces, the faces
# side by side: most of the time is spent waiting on purpose.
examples=${builddir:-.}/examples
if ! command -v curl >/dev/null; then
	echo "1..0 # SKIP no curl"
	exit 0
fi
top=$(mktemp -d) || exit 1
dir=$top
server='' failed=0
trap 'rm -rf "$top"' EXIT
: >"$dir/out"
verdict() { # DESCRIPTION STATUS; numbers come at the end
	if [ "$2" -eq 0 ]; then
		echo "ok - $1"
	else
		failed=1
		echo "not ok - $1"
		sed 's/^/# /' "$dir/out" "$dir/err"
	fi
}
start() { # EXAMPLE ARGUMENT...: $url, $server
	program=$1
	shift
	: >"$dir/url"
	"$examples/$program" --face="$face" "$@" >"$dir/url" 2>"$dir/err" &
	server=$!
	tries=0
	while [ ! -s "$dir/url" ] && [ $tries -lt 400 ] && kill -0 "$server" 2>/dev/null; do
		sleep 0.05
		tries=$((tries + 1))
	done
	url=$(cat "$dir/url")
}
stop() { # ends it and says how: $status
	kill "$server"
	wait "$server"
	status=$?
	server=
}
get() { # PATH [CURL-OPTION...]: body in out, $code
	path=$1
	shift
	code=$(curl -gs -o "$dir/out" -w '%{http_code}' "$@" "$url$path")
}
is() { # CODE: stdin is the body
	cat >"$dir/want"
	[ "$code" = "$1" ] && cmp -s "$dir/want" "$dir/out"
}
together() { # PATH?QUERY: six of them at once, by one process, so that none is late
	curl -s --no-progress-meter -Z --parallel-immediate --parallel-max 6 -o "$dir/together.#1" "$url$1&n=[0-5]" 2>/dev/null
	cat "$dir"/together.* | sort | uniq -c | sed 's/^ *//' >"$dir/out"
	rm -f "$dir"/together.*
}
loads() { # MODE
	curl -s "${url}loads" | sed -n "s/^$1 //p"
}

of_face() { # FACE: in a shell and a directory of its own
	face=$1
	dir=$top/$face
	mkdir "$dir"
	: >"$dir/out"
	trap 'if [ -n "$server" ]; then kill -9 "$server"; fi 2>/dev/null' EXIT
	# The gate: a long initialisation, so that a busy machine still comes early.
	start say --init=1000
	curl -s -o "$dir/gated" -w '%{http_code}' "${url}gated" >"$dir/gated.code" &
	gated=$!
	curl -s -o "$dir/checked" -w '%{http_code}' "${url}checked" >"$dir/checked.code" &
	checked=$!
	get ungated
	echo "the speaker is not initialised" | is 500
	verdict "C57 $face: ungated before init is 500" $?
	get injected
	[ "$code" = 404 ]
	verdict "C57 $face: a route that is injected does not exist before init" $?
	get nothing
	[ "$code" = 404 ]
	verdict "C57 $face: other paths are 404" $?
	kill -0 $gated 2>/dev/null && [ ! -s "$dir/gated.code" ]
	verdict "C58 $face: a gated call before init is kept" $?
	wait $gated
	[ "$(cat "$dir/gated.code")" = 200 ] && echo hello | cmp -s - "$dir/gated"
	verdict "C57 $face: gated is 200 after init" $?
	wait $checked
	[ "$(cat "$dir/checked.code")" = 200 ]
	verdict "C57 $face: so is check-then-wait" $?
	for path in ungated injected gated checked; do
		get $path
		echo hello | is 200
		verdict "C57 $face: after init /$path is 200" $?
	done
	stop
	verdict "C57 $face: the server ends well" "$status"
	start say --init=0 --fail=1
	get gated
	[ "$code" = 500 ]
	verdict "C58 $face: a failed init fails the kept calls" $?
	stop

	start say --init=60000
	curl -s -o "$dir/out" "${url}gated" &
	gated=$!
	sleep 0.1
	stop
	wait $gated
	verdict "C58 $face: the server ends before init does" "$status"

	# Subset sum.
	start subset_sum --steps=100
	modes="sync interleaved pool"
	[ "$face" = cps ] && modes="$modes defer"
	for mode in $modes; do
		get "subsetSum?data=[1,2,-4,5,-3]&sum=0&mode=$mode"
		is 200 <<'WANT'
[1,2,-3]
[2,-4,5,-3]
end: 2 of 31
WANT
		verdict "C72 $face $mode: exactly two subsets, then the end" $?
		get "subsetSum?data=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]&sum=210&mode=$mode"
		is 200 <<'WANT'
[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]
end: 1 of 1048575
WANT
		verdict "C66 $face $mode: 20 integers have 1,048,575 subsets" $?
	done
	get "subsetSum?data=[1,1,1,1,1,1,1,1,1,1]&sum=5"
	[ "$(grep -c '^\[1,1,1,1,1\]$' "$dir/out")" -eq 252 ] && tail -n 1 "$dir/out" | grep -qx "end: 252 of 1023"
	verdict "C72 $face: every match is streamed" $?
	get subsetSum%3Fdata=
	echo "I'm alive!" | is 200
	verdict "C72 $face: any other path is alive" $?
	for bad in "data=" "data=[1" "data=[1,x]&sum=1" "data=[1]&sum=" "data=[1]&mode=other" \
		"data=[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5]"; do
		get "subsetSum?$bad"
		[ "$code" = 400 ]
		verdict "C72 $face: $bad is 400" $?
	done
	big="data=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24]&sum=300"
	for mode in interleaved pool; do
		curl -gsN -o "$dir/big" "${url}subsetSum?$big&mode=$mode" &
		busy=$!
		sleep 0.3
		get "" --max-time 5
		echo "I'm alive!" | is 200 && kill -0 $busy 2>/dev/null
		verdict "C67 $face $mode: alive is answered while the work goes on" $?
		kill $busy
		wait $busy 2>/dev/null
	done
	stop
	verdict "C67 $face: the server ends in the middle of the work" "$status"
	start subset_sum
	curl -gs -o "$dir/big" "${url}subsetSum?${big%,24*}]&sum=276&mode=sync" &
	busy=$!
	sleep 0.2
	get "" --max-time 0.1
	[ "$code" = 000 ]
	verdict "C72 $face: only the synchronous mode blocks alive" $?
	wait $busy
	tail -n 1 "$dir/big" | grep -qx "end: 1 of 8388607"
	verdict "C66 $face: and ends" $?
	stop

	# What the interval costs, and what others feel.
	start subset_sum
	set -- "data=[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]"
	timeout 20 "$examples/load" --clients=1 --requests=5 "${url}subsetSum?$1&mode=sync" "${url}subsetSum?$1&mode=pool" \
		"${url}subsetSum?$1&mode=interleaved&steps=1000" "${url}subsetSum?$1&mode=interleaved&steps=1" \
		>"$dir/out" 2>>"$dir/err" &&
		awk '/mode=sync/ { sync = $2 } /steps=1000$/ { k1000 = $2 } /steps=1$/ { k1 = $2 }
			END { exit !(sync && k1 && k1000 < 3 * sync + 5) }' "$dir/out"
	verdict "C67 $face: making way costs next to nothing every 1000 steps; at each step as shown" $?
	sed 's/^/# /' "$dir/out"
	# Where more runs than there are cores, a busy server waits for its turns.
	bound=$(awk -v cores="$(nproc)" '{ over = $1 / cores; print 20 * (over > 1 ? over : 1) }' /proc/loadavg)
	tries=0
	until timeout 5 "$examples/load" --beside=1 --clients=2 --requests=150 "${url}subsetSum?$big&mode=interleaved" "${url}alive" \
		>"$dir/out" 2>>"$dir/err" && awk -v bound="$bound" '/alive/ { p99 = $3 } END { exit !(p99 && p99 <= bound) }' "$dir/out"; do
		tries=$((tries + 1))
		[ $tries -lt 4 ] || break
	done
	[ $tries -lt 4 ]
	verdict "C67 $face: beside it the 99th percentile of other requests is at most 20 ms (here $bound)" $?
	sed 's/^/# /' "$dir/out"
	get "subsetSum?data=[1]&steps=0"
	[ "$code" = 400 ]
	verdict "C67 $face: steps=0 is 400" $?
	stop

	# Total sales.
	rm -f "$dir/db"
	start total_sales --rows=1000 --delay=200 "$dir/db"
	get "totalSales?item=pen&mode=plain"
	echo "total 1000" | is 200
	verdict "C59 $face: the total of an item" $?
	get "totalSales?mode=plain"
	echo "total 2500" | is 200
	verdict "C59 $face: no item is the grand total" $?
	get "totalSales?item=none"
	[ "$code" = 404 ]
	verdict "C59 $face: an item that is not there is 404" $?
	get "totalSales?mode=other"
	[ "$code" = 400 ]
	verdict "C59 $face: a mode that is not there is 400" $?
	for mode in plain batch cache future; do
		before=$(loads $mode)
		together "totalSales?item=desk&mode=$mode"
		echo "6 total 500" | cmp -s - "$dir/out"
		verdict "C59 $face $mode: six at once, one answer" $?
		get "totalSales?item=desk&mode=$mode"
		case $mode in plain) want=7 ;; batch) want=2 ;; *) want=1 ;; esac
		[ $(($(loads $mode) - before)) -eq $want ]
		verdict "C59 $face $mode: seven requests are $want loads" $?
	done
	echo "this is no database, nor was it ever one; it is a text" >"$dir/db"
	for mode in plain batch cache future; do
		get "totalSales?item=lamp&mode=$mode"
		[ "$code" = 500 ]
		verdict "C59 $face $mode: an error is not a 200" $?
	done
	stop
	verdict "C59 $face: the server ends well" "$status"
	return $failed
}
(of_face co) >"$top/co.tap" &
co=$!
(of_face cps) >"$top/cps.tap" &
cps=$!

all() {
	face=co
	start total_sales --rows=1000 --delay=20 "$dir/db2"
	"$examples/load" --requests=100 "${url}totalSales?mode=plain" "${url}totalSales?mode=batch" \
		"${url}totalSales?mode=cache" "${url}totalSales?mode=future" >"$dir/out" 2>>"$dir/err" &&
		awk '/mode=plain/ { plain = $1 } /mode=batch/ { batch = $1 } END { exit !(batch && plain / batch >= 4) }' "$dir/out"
	verdict "C59 under load batched requests take at most a quarter of the time" $?
	sed 's/^/# /' "$dir/out"
	stop

	start say --init=0
	port=${url##*:}
	for example in say subset_sum "total_sales $dir/db2"; do
		# shellcheck disable=SC2086
		"$examples/"$example --port="${port%/}" >"$dir/out" 2>"$dir/err"
		[ $? -eq 1 ] && [ "$(wc -l <"$dir/err")" -eq 1 ] && [ ! -s "$dir/out" ]
		verdict "${example%% *} on a port that is taken is an error" $?
	done
	stop
	"$examples/load" --requests=2 http://127.0.0.1:1/ >"$dir/out" 2>"$dir/err"
	[ $? -eq 1 ]
	verdict "load: a server that is not there is an error" $?
	for example in say subset_sum total_sales load; do
		"$examples/$example" --help >"$dir/out" 2>"$dir/err" && grep -q "^usage: $example " "$dir/out"
		verdict "$example --help" $?
		"$examples/$example" --port=x a b >"$dir/out" 2>"$dir/err"
		[ $? -eq 2 ] && [ "$(wc -l <"$dir/err")" -eq 1 ]
		verdict "$example --port=x is wrong usage" $?
	done
	"$examples/total_sales" "$dir/no/such/db" >"$dir/out" 2>"$dir/err"
	[ $? -eq 1 ] && grep -q "/no/such/db: crawl database failed" "$dir/err"
	verdict "a database that cannot be made is an error" $?
	return $failed
}
wait $co
both=$?
wait $cps
both=$((both + $?))
all >"$top/all.tap"
failed=$((both + $?))
cat "$top/co.tap" "$top/cps.tap" "$top/all.tap" | awk '/^(not )?ok - / { sub(/ok -/, "ok " ++n " -") } { print } END { print "1.." n }'
exit $failed
