#!/bin/sh
# bench.t - coscrawl bench: what it writes, which cells count, and what it says
# about the sources. Times are not judged here: they depend on the day.
coscrawl=${COSCRAWL:-./coscrawl}
. "${srcdir:-.}/tests/tap.sh"
builddir=${builddir:-.}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

command -v jq >/dev/null 2>&1 || skip_all "no jq here"
ask() { jq -r "$1" "$tmp/json" 2>&1; }

# nothing but memory
TMPDIR=$tmp "$coscrawl" bench --quick --style=queue,once,parallel,sequential,discipline,hell --leaves=null,replay \
	--rounds=2 --no-instructions --max-time=180 --json --html="$tmp/page.html" >"$tmp/json" 2>"$tmp/err"
is $? 0 "a quick run ends well"
is "$(ask '.partial')" false "it had the time for all of it"
is "$(ask '[.cells[0] | has("style","face","leaves","shape","latency_ms","concurrency","parser","rounds","valid","reason","pages","requests","duplicates","lost","pages_s","cpu_ns_page","instructions_step","ratio","ratio_low","ratio_high","cpu_ns_step","task_p50_us","task_p95_us","task_p99_us","loop_lag_us","callbacks_not_once","memory_task_bytes","bytes_page","stack_bytes","descriptors")] | all')" \
	true "a cell has every field that is promised"
is "$(ask '[.cells[] | .rounds] | unique | join(",")')" 2 "every cell ran in both rounds"
is "$(ask '[.cells[] | select(.valid | not)] | length')" 0 "every cell got the right pages"
is "$(ask '[.cells[] | select(.ratio == null or .ratio_low > .ratio or .ratio > .ratio_high)] | length')" 0 \
	"a ratio stands inside its interval"
is "$(ask '[.cells[] | select(.style == "queue" and .face == "co") | .ratio] | unique | join(",")')" 1 \
	"the baseline is 1"
is "$(ask '[.cells[] | select(.style == "parallel" and .shape == "cross" and .duplicates == 0)] | length')" 0 \
	"C4 C16 parallel shows its duplicates on cross links"
is "$(ask '[.cells[] | select((.style == "once" or .style == "queue") and .duplicates != 0)] | length')" 0 \
	"C5 C16 once and queue have none"
is "$(ask '[.cells[] | select((.style == "once" or .style == "queue") and .requests != .expected)] | length')" 0 \
	"C5 requests = distinct URLs"
is "$(ask '[.cells[] | select(.style == "sequential" and .in_flight_peak != 1)] | length')" 0 \
	"C3 sequential: one step in flight"
is "$(ask '[.cells[] | select(.style == "queue" and .in_flight_peak > 16)] | length')" 0 \
	"C6 queue: never more than its limit"
is "$(ask '[.cells[] | .callbacks_not_once] | unique | join(",")')" 0 "C14 every callback came once"
is "$(ask '[.cells[] | select(.stack_bytes == null or .stack_bytes < 100 or .stack_bytes > 100000)] | length')" 0 \
	"the stack of every cell was measured"
is "$(ask '[.cells[] | select(.leaves == "null" and .style == "parallel" and .shape == "tree") | .memory_task_bytes] | (.[1] > 2000 and .[0] < .[1])')" true \
	"a coroutine needs a stack, a callback does not"
is "$(ask '[.cells[] | select(.style == "once" or .style == "queue") | .leaves + .shape + (.steps|tostring)] | unique | length')" \
	"$(ask '[.cells[] | select(.style == "once" or .style == "queue") | .leaves + .shape] | unique | length')" \
	"once and queue take the same steps, on both faces"
is "$(ask '[.cells[] | select(.leaves == "null") | .style + .face + .shape] | length')" \
	"$(ask '[.cells[] | select(.leaves == "null") | .style + .face + .shape] | unique | length')" "each cell once"
ranks=$(ask '[.cells[] | select(.leaves == "null" and .shape == "tree") | .rank] | sort | .[0]')
is "$ranks" 1 "valid cells are ranked"

# sources
is "$(ask '.sources | length')" 13 "twelve sources, and hell in Blocks"
is "$(ask '[.sources[] | select(.style == "discipline" and (.depth > 2 or .complexity > 3))] | length')" 0 \
	"C11 discipline: nesting at most 2, complexity at most 3 a function"
is "$(ask '.sources[] | select(.file == "1hell_blocks.c") | .depth > 3 and .functions == 7')" true \
	"so it is in Blocks"
is "$(ask '.sources[] | select(.file == "1hell_cps.c") | .depth > 3 and .functions == 4')" true \
	"hell is deep, and its functions in place are counted"
is "$(ask '[.sources[] | select(.lines < 10 or .tokens < 100 or .functions < 1)] | length')" 0 \
	"every source was read"

# the page: whole, and nothing from elsewhere
tail -n 1 "$tmp/page.html" | grep -q '</html>' &&
	grep -q '<svg' "$tmp/page.html" &&
	grep -q '4parallel_cps.c</h3>' "$tmp/page.html" &&
	! grep -qE '(src|href)="?https?:|<script' "$tmp/page.html"
ok $? "the page has plots and code, and loads nothing"

# a style that loses pages is not ranked
"$coscrawl" bench --style=sequential,queue --leaves=replay --shape=errors --rounds=1 --no-instructions -q --json >"$tmp/json"
is "$(ask '[.cells[] | select(.style == "sequential") | .valid == false and .rank == null and .lost > 0 and (.reason | test("lost"))] | all')" \
	true "C3 sequential ends at the first error: invalid, not ranked, and why"
is "$(ask '[.cells[] | select(.style == "queue") | .valid] | all')" true "C6 the queue goes on: valid"
"$coscrawl" bench --style=once,queue --leaves=replay --shape=lost --rounds=1 --no-instructions -q --json >"$tmp/json"
is "$(ask '[.cells[] | .valid] | all')" true "C10b no page is lost"

# real leaves: its own site, pages compared by digest
"$coscrawl" bench --style=queue,parallel,once --leaves=real --shape=cross,crowd --latency=5 --rounds=1 --no-instructions -q --json >"$tmp/json"
is "$(ask '[.cells[] | .valid] | (length == 12 and all)')" true "real leaves: the same pages over the network"
is "$(ask '[.cells[] | .parser] | unique | join(",")')" scan,tidy "read by the scanner and by tidy"
is "$(ask '[.cells[] | select(.task_p50_us < 1000 or .task_p50_us > .task_p99_us or .loop_lag_us == null or .descriptors < 8)] | length')" 0 \
	"task time, lag of the loop and descriptors were measured"
is "$(ask '[.descriptors_64[] | select(.style == "parallel") | .error] | unique | join(",")')" EMFILE \
	"C17 64 descriptors: parallel ends by EMFILE"
is "$(ask '[.descriptors_64[] | select(.style == "queue") | .error == null and .pages == .expected] | (length == 2 and all)')" true \
	"C17 64 descriptors: the queue completes"
is "$(ask '[.descriptors_64[] | select(.style == "once") | .error == null and .pages == .expected] | (length == 2 and all)')" true \
	"C17 64 descriptors: once completes where only the duplicates were too many"
is "$(ask '[.cells[] | select(.style == "queue") | .duplicates == 0 and .fetch_p50_us >= 5000] | all')" true \
	"C5 real leaves: each page once, and not faster than the site"

# too little time: fewer rounds, but as many for each cell
"$coscrawl" bench --style=once,queue --leaves=null --shape=tree,cross --rounds=200 --max-time=2 --no-instructions -q \
	--json >"$tmp/json"
is "$(ask '[.cells[] | .rounds] | unique | length')" 1 "cut short: every cell has as many rounds"
is "$(ask '.partial and .rounds < .rounds_asked and .rounds == .cells[0].rounds and .seconds < 4')" true \
	"and it says how many, in time"

# interrupted
wait_for() { # TEXT
	for _ in $(seq 300); do
		grep -q "$1" "$tmp/err" && return
		sleep 0.1
	done
}
mkdir "$tmp/run"
TMPDIR=$tmp/run "$coscrawl" bench --style=once,queue --leaves=null,real --shape=tree,cross --rounds=200 --no-instructions \
	--json >"$tmp/json" 2>"$tmp/err" &
pid=$!
wait_for 'round 2 of 200, 3 of'
kill -INT $pid
wait $pid
is $? 11 "interrupted: exit 11"
is "$(ask '.partial and .interrupted and .rounds >= 1')" true "what there is was written: a whole round at least"
is "$(ask '[.cells[] | .rounds] | unique | length')" 1 "the unfinished round was dropped"
is "$(ask '[.cells[] | select(.valid and .rank and .ratio)] | length')" "$(ask '.cells | length')" \
	"and every cell has its numbers"
is "$(ls -A "$tmp/run")" "" "and nothing stays behind"
TMPDIR=$tmp/run "$coscrawl" bench --leaves=null --no-instructions >"$tmp/out" 2>"$tmp/err" &
pid=$!
wait_for 'warm-up, 3 of'
kill -INT $pid
wait $pid
is "$? $(grep -c 'no whole round.*(interrupted)' "$tmp/out")" "11 1" "interrupted before the first round: it says so"

# bad usage
for bad in --parser=guess --style=quick --rounds=0 --rounds=x --shape= --side-by-side=queue --frobnicate extra; do
	"$coscrawl" bench $bad >"$tmp/out" 2>"$tmp/err"
	code=$?
	[ $code = 2 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" = 1 ]
	ok $? "bench $bad: exit 2 and one line"
done

# hell must not cost an executable stack, in no program that was built
if command -v readelf >/dev/null 2>&1; then
	find "$builddir" -maxdepth 4 -type f -perm -u+x ! -name '*.sh' ! -name '*.la' | while read -r program; do
		readelf -lW "$program" 2>/dev/null | awk -v name="$program" '/GNU_STACK/ { print name, $(NF - 1) }'
	done >"$tmp/stacks"
	[ "$(grep -c coscrawl "$tmp/stacks")" -ge 1 ] && [ "$(grep -c spider "$tmp/stacks")" -ge 1 ]
	ok $? "$(wc -l <"$tmp/stacks") programs were looked at"
	is "$(grep -v ' RW$' "$tmp/stacks")" "" "none has an executable stack"
else
	skip "no readelf here"
fi
done_testing
