#!/bin/sh
# peers.sh [--rounds=N] [--sites=A,B] [--json=FILE] [--no-httrack]
# coscrawl beside wget2, wget, HTTrack and the floor (a bare curl_multi loop over
# the URLs that coscrawl fetched), on static sites served by one nginx worker on
# loopback. Called by ./dev bench-peers from the top of the tree, after a build in
# ./build.
#
# Tools run in turns, several rounds; each into a fresh directory on tmpfs. What
# a tool fetched is read from the server's log, not from the tool: missing pages,
# double requests and requests that the server answered with an error are shown.
set -eu

rounds=5 sites=5k,20k,100k,python,postgresql,linux
json='' httrack=httrack
for argument; do
	case $argument in
	--rounds=*) rounds=${argument#*=} ;;
	--sites=*) sites=${argument#*=} ;;
	--json=*) json=${argument#*=} ;;
	--no-httrack) httrack= ;;
	*) echo "bench-peers: no option '$argument' (--rounds=N --sites=A,B --json=FILE --no-httrack)" >&2; exit 2 ;;
	esac
done

build=$PWD/build
work=$(mktemp -d /dev/shm/coscrawl-peers.XXXXXX)
port=
nginx_pid=
cleanup() {
	[ -z "$nginx_pid" ] || kill "$nginx_pid" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
make -s -C "$build" bench_floor bench_gen bench_cost >/dev/null

# serve ROOT: nginx on a free port, log of request lines and status.
serve() {
	[ -z "$nginx_pid" ] || { kill "$nginx_pid" 2>/dev/null || true; sleep 0.3; }
	port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 30000))
	cat >"$work/nginx.conf" <<-EOF
	worker_processes 1; daemon off; pid $work/nginx.pid; error_log $work/error.log;
	user root;
	events { worker_connections 2048; }
	http {
	  types { text/html html htm; text/css css; application/javascript js; image/png png;
	          image/svg+xml svg; image/gif gif; text/plain txt; }
	  default_type application/octet-stream;
	  log_format uri '\$status \$request_method \$request_uri';
	  access_log $work/access.log uri buffer=256k flush=1s;
	  sendfile on; tcp_nopush on; keepalive_requests 1000000; absolute_redirect off;
	  server { listen 127.0.0.1:$port; root $1; index index.html; }
	}
	EOF
	nginx -c "$work/nginx.conf" -p "$work" 2>/dev/null &
	nginx_pid=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		if curl -so /dev/null "http://127.0.0.1:$port/"; then
			sleep 1.2 # this request is still in the log's buffer
			return 0
		fi
		sleep 0.2
	done
	echo "bench-peers: nginx did not start" >&2
	exit 1
}

# command_of TOOL URL DIRECTORY: one argument a line.
command_of() {
	case $1 in
	coscrawl) printf '%s\n' "$build/coscrawl" -q -l inf -j 64 --host-concurrency=64 --no-adaptive -P "$3" "$2" ;;
	coscrawl-list) printf '%s\n' "$build/coscrawl" --list -q -l inf -j 64 --host-concurrency=64 --no-adaptive "$2" ;;
	wget2) printf '%s\n' wget2 -q -r -l inf --max-threads=5 -P "$3" "$2" ;;
	wget) printf '%s\n' wget -q -r -l inf -P "$3" "$2" ;;
	httrack) printf '%s\n' timeout 120 httrack "$2" -O "$3" -q -c8 -%c100 -A1000000000 -s0 -r100 --disable-security-limits ;;
	floor) printf '%s\n' "$build/bench_floor" "$work/urls" "$3" ;;
	floor-list) printf '%s\n' "$build/bench_floor" "$work/urls" - ;;
	esac
}

have() {
	case $1 in coscrawl* | floor*) return 0 ;; *) command -v "$1" >/dev/null 2>&1 ;; esac
}

# run TOOL SITE ROUND: its cost and what the server saw go to result files.
run() {
	rm -rf "$work/out"
	mkdir "$work/out"
	: >"$work/access.log"
	kill -USR1 "$nginx_pid"
	sleep 0.1
	command_of "$1" "http://127.0.0.1:$port/" "$work/out" >"$work/argv"
	set -- "$1" "$2" "$3" "$work/cost"
	# shellcheck disable=SC2046
	(IFS='
'; "$build/bench_cost" "$4" $(cat "$work/argv"))
	kill -USR1 "$nginx_pid"
	sleep 1.2
	grep ' GET ' "$work/access.log" | sed 's/#.*//' >"$work/got" || true
	awk '$1 == 200 { print $3 }' "$work/got" | grep -v '^/robots.txt$' | sort >"$work/ok"
	if [ "$1" = coscrawl ] && [ ! -s "$work/expected.$2" ]; then
		sort -u "$work/ok" >"$work/expected.$2"
		sed "s|^|http://127.0.0.1:$port|" "$work/expected.$2" >"$work/urls"
	fi
	sort -u "$work/ok" >"$work/unique"
	missing=$(comm -23 "$work/expected.$2" "$work/unique" | wc -l)
	extra=$(comm -13 "$work/expected.$2" "$work/unique" | wc -l)
	double=$(($(wc -l <"$work/ok") - $(wc -l <"$work/unique")))
	wrong=$(awk '$1 >= 400 && $3 != "/robots.txt"' "$work/got" | wc -l)
	requests=$(wc -l <"$work/got")
	echo "$2 $1 $3 $(cat "$work/cost") $(wc -l <"$work/unique") $requests $missing $extra $double $wrong" >>"$work/results"
}

bench_site() { # NAME ROOT ROUNDS TOOLS
	serve "$2"
	for round in $(seq 1 "$3"); do
		for tool in $4; do
			have "$tool" || continue
			printf '\rbench-peers: %s, round %s of %s: %-14s' "$1" "$round" "$3" "$tool" >&2
			run "$tool" "$1" "$round"
		done
	done
	printf '\r%60s\r' '' >&2
}

generated() { # PAGES BYTES LINKS
	rm -rf "$work/site"
	mkdir "$work/site"
	"$build/bench_gen" "$work/site" "$1" "$2" "$3"
}

tree_of() {
	case $1 in
	python) find /usr/share/doc/python3*-doc/html -maxdepth 0 2>/dev/null | tail -n 1 ;;
	postgresql) find /usr/share/doc/postgresql-doc-*/html -maxdepth 0 2>/dev/null | tail -n 1 ;;
	linux) find /usr/share/doc/linux-doc-*/html -maxdepth 0 2>/dev/null | tail -n 1 ;;
	esac
}

for tool in wget2 wget httrack; do
	have "$tool" || echo "bench-peers: $tool is not installed; left out" >&2
done
: >"$work/results"
all="coscrawl floor wget2 wget coscrawl-list floor-list"
for site in $(echo "$sites" | tr , ' '); do
	case $site in
	5k) generated 5000 20480 30; bench_site 5k "$work/site" "$rounds" "$all $httrack" ;;
	20k) generated 20000 2048 10; bench_site 20k "$work/site" "$rounds" "$all" ;;
	100k) generated 100000 1024 8; bench_site 100k "$work/site" "$rounds" "$all" ;;
	python | postgresql | linux)
		root=$(tree_of "$site")
		if [ -z "$root" ]; then
			echo "bench-peers: no documentation of $site installed; left out" >&2
			continue
		fi
		case $rounds in 1 | 2) n=$rounds ;; *) n=$((rounds * 3)) ;; esac
		bench_site "$site" "$root" "$n" "coscrawl floor wget2 wget" ;;
	*) echo "bench-peers: no site '$site'" >&2; exit 2 ;;
	esac
done

# Medians, and ratios per round against wget2 and the floor with the range of
# the middle half of the rounds.
awk -v json="$json" '
function sorted(values, n,   i, j, t) {
	for (i = 2; i <= n; i++) for (j = i; j > 1 && values[j] < values[j - 1]; j--) {
		t = values[j]; values[j] = values[j - 1]; values[j - 1] = t } }
function quantile(values, n, q,   at) { at = int(1 + q * (n - 1) + 0.5); return values[at] }
function collect(key, field, out,   n, r) {
	n = 0
	for (r = 1; r <= rounds[key]; r++) if ((key, r, field) in v) out[++n] = v[key, r, field]
	sorted(out, n)
	return n }
function ratio(key, other, field, out,   n, r) {
	n = 0
	for (r = 1; r <= rounds[key]; r++)
		if ((other, r, field) in v && v[other, r, field] > 0) out[++n] = v[key, r, field] / v[other, r, field]
	sorted(out, n)
	return n }
function shown(key, other, field,   a, n) {
	delete a
	n = ratio(key, other, field, a)
	return n ? sprintf("%.2f [%.2f-%.2f]", quantile(a, n, 0.5), quantile(a, n, 0.25), quantile(a, n, 0.75)) : "-" }
{ key = $1 SUBSEP $2
  if (!(key in rounds)) { order[++count] = key; site[key] = $1; tool[key] = $2 }
  rounds[key] = $3
  v[key, $3, "cpu"] = $4 / $8 * 1e6; v[key, $3, "wall"] = $5; v[key, $3, "rss"] = $6 / 1024
  v[key, $3, "rate"] = $8 / $5; v[key, $3, "request"] = $4 / $9 * 1e6
  pages[key] = $8; missing[key] += $10; extra[key] += $11; twice[key] += $12; wrong[key] += $13; status[key] = $7 }
END {
	printf "%-11s %-14s %7s %8s %8s %9s %7s %7s %6s %6s %6s  %-18s %-18s\n", "site", "tool", "pages", "us/page", "us/req", "pages/s", "RSS MB", "missing", "extra", "twice", "wrong", "CPU / wget2", "CPU / floor"
	if (json) printf "[" > json
	for (i = 1; i <= count; i++) {
		key = order[i]
		split("cpu request rate rss", fields, " ")
		for (f = 1; f <= 4; f++) { delete a; n = collect(key, fields[f], a); m[fields[f]] = quantile(a, n, 0.5) }
		floor = tool[key] ~ /list/ ? "floor-list" : "floor"
		printf "%-11s %-14s %7d %8.1f %8.1f %9.0f %7.1f %7d %6d %6d %6d  %-18s %-18s\n", site[key], tool[key], pages[key], m["cpu"], m["request"], m["rate"], m["rss"], missing[key], extra[key], twice[key], wrong[key], shown(key, site[key] SUBSEP "wget2", "cpu"), shown(key, site[key] SUBSEP floor, "cpu")
		if (json) printf "%s{\"site\":\"%s\",\"tool\":\"%s\",\"pages\":%d,\"cpu_us_page\":%.1f,\"cpu_us_request\":%.1f,\"pages_s\":%.0f,\"rss_mb\":%.1f,\"missing\":%d,\"extra\":%d,\"twice\":%d,\"wrong\":%d,\"status\":%d}", (i > 1 ? ",\n" : ""), site[key], tool[key], pages[key], m["cpu"], m["request"], m["rate"], m["rss"], missing[key], extra[key], twice[key], wrong[key], status[key] > json
	}
	if (json) print "]" > json
}' "$work/results"
