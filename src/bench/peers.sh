#!/bin/sh
# peers.sh [--rounds=N] [--slow-rounds=N] [--sites=A,B] [--json=FILE] [--no-httrack]
# coscrawl beside wget2, wget, HTTrack and the floor (a bare curl_multi loop over
# the URLs that coscrawl fetched), on static sites served by one nginx worker on
# loopback. Called by ./dev bench-peers from the top of the tree, after a build in
# ./build.
#
# Tools run in turns, several rounds; each into a fresh directory on tmpfs. What
# a tool fetched is read from the server's log, not from the tool: missing pages,
# double requests and requests that the server answered with an error are shown.
# A link of the documentation that leads nowhere is not a wrong request: its text
# is found in the pages. N rounds, three times as many on sites that take less
# than a second; wget and HTTrack, whose figures no bar needs, run in the first.
set -eu

rounds=5 slow_rounds=3 sites=5k,20k,100k,python,postgresql,linux
json='' httrack=httrack
for argument; do
	case $argument in
	--rounds=*) rounds=${argument#*=} ;;
	--slow-rounds=*) slow_rounds=${argument#*=} ;;
	--sites=*) sites=${argument#*=} ;;
	--json=*) json=${argument#*=} ;;
	--no-httrack) httrack= ;;
	*) echo "bench-peers: no option '$argument' (--rounds=N --slow-rounds=N --sites=A,B --json=FILE --no-httrack)" >&2; exit 2 ;;
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
		curl -so /dev/null "http://127.0.0.1:$port/" && return 0
		sleep 0.2
	done
	echo "bench-peers: nginx did not start" >&2
	exit 1
}

# log_until MARK: everything asked for up to now is in the log. nginx writes its
# buffer when it opens the file again.
log_until() {
	curl -so /dev/null "http://127.0.0.1:$port/?$1"
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		kill -USR1 "$nginx_pid"
		sleep 0.2
		grep -qF "?$1" "$work/access.log" && return 0
	done
	echo "bench-peers: the server's log did not come" >&2
	exit 1
}

# links_of ROOT FILE: of the URLs in FILE, those that pages below ROOT refer to.
# What stands behind the last escape is looked for: pages need not have escaped it.
links_of() {
	while read -r status method uri; do
		name=${uri##*/}
		name=${name##*%??}
		[ -n "$name" ] && grep -rqF -- "$name" "$1" && echo "$status $method $uri"
	done <"$2"
	return 0
}

# command_of TOOL URL DIRECTORY: one argument a line. The kernel's documentation
# marks links as nofollow that the others follow: nobody obeys there.
command_of() {
	case $1 in
	coscrawl) printf '%s\n' "$build/coscrawl" -q -l inf -j 64 --host-concurrency=64 --no-adaptive $obey -P "$3" "$2" ;;
	coscrawl-list) printf '%s\n' "$build/coscrawl" --list -q -l inf -j 64 --host-concurrency=64 --no-adaptive $obey "$2" ;;
	wget2) printf '%s\n' wget2 -q -r -l inf --max-threads=5 $obey -P "$3" "$2" ;;
	wget) printf '%s\n' wget -q -r -l inf ${obey:+-erobots=off} -P "$3" "$2" ;;
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
	log_until "before-$2-$1-$3"
	: >"$work/access.log"
	command_of "$1" "http://127.0.0.1:$port/" "$work/out" >"$work/argv"
	set -- "$1" "$2" "$3" "$work/cost"
	# shellcheck disable=SC2046
	(IFS='
'; "$build/bench_cost" "$4" $(cat "$work/argv"))
	log_until "after-$2-$1-$3"
	grep ' GET ' "$work/access.log" | grep -v -e '/?before-' -e '/?after-' -e ' /robots.txt$' >"$work/got" || true
	awk '$1 == 200 { print $3 }' "$work/got" | sort >"$work/ok"
	if [ ! -e "$work/expected.$2" ]; then
		sort -u "$work/ok" >"$work/expected.$2"
	fi
	if [ ! -e "$work/urls.$2" ]; then
		sed "s|^|http://127.0.0.1:$port|" "$work/expected.$2" >"$work/urls.$2"
		cp "$work/urls.$2" "$work/urls"
	fi
	sort -u "$work/ok" >"$work/unique"
	missing=$(comm -23 "$work/expected.$2" "$work/unique" | wc -l)
	extra=$(comm -13 "$work/expected.$2" "$work/unique" | wc -l)
	double=$(sort "$work/got" | uniq -d | wc -l)
	awk '$1 >= 400' "$work/got" | sort -u >"$work/errors"
	comm -23 "$work/errors" "$work/broken.$2" >"$work/new"
	links_of "$root" "$work/new" | sort -u - "$work/broken.$2" -o "$work/broken.$2"
	wrong=$(comm -23 "$work/errors" "$work/broken.$2" | wc -l)
	echo "$2 $1 $3 $(cat "$work/cost") $(wc -l <"$work/unique") $(wc -l <"$work/got") $missing $extra $double $wrong" >>"$work/results"
}

# A tool whose name ends in a colon is a slow one.
bench_site() { # NAME ROOT ROUNDS TOOLS
	root=$2
	serve "$root"
	: >"$work/broken.$1"
	for round in $(seq 1 "$3"); do
		for tool in $4; do
			case $tool in *:) [ "$round" -le "$slow_rounds" ] || continue ;; esac
			tool=${tool%:}
			have "$tool" || continue
			printf '\rbench-peers: %s, round %s of %s: %-14s' "$1" "$round" "$3" "$tool" >&2
			run "$tool" "$1" "$round"
		done
	done
	printf '\r%60s\r' '' >&2
}

# generated SITE PAGES BYTES LINKS: every page is to be fetched.
generated() {
	rm -rf "$work/site"
	mkdir "$work/site"
	"$build/bench_gen" "$work/site" "$2" "$3" "$4"
	(cd "$work/site" && find . -name '*.html') | sed -e 's/^\.//' -e 's|^/index.html$|/|' | sort >"$work/expected.$1"
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
obey=
more=$((rounds > 2 ? rounds * 3 : rounds))
all="coscrawl floor wget2 coscrawl-list floor-list wget: ${httrack:+$httrack:}"
for site in $(echo "$sites" | tr , ' '); do
	case $site in
	5k) generated 5k 5000 20480 30; bench_site 5k "$work/site" "$more" "$all" ;;
	20k) generated 20k 20000 2048 10; bench_site 20k "$work/site" "$rounds" "$all" ;;
	100k) generated 100k 100000 1024 8; bench_site 100k "$work/site" "$rounds" "coscrawl floor wget2 wget:" ;;
	python | postgresql | linux)
		root=$(tree_of "$site")
		if [ -z "$root" ]; then
			echo "bench-peers: no documentation of $site installed; left out" >&2
			continue
		fi
		n=$more
		[ "$site" != linux ] || { obey=--no-robots; n=$rounds; }
		bench_site "$site" "$root" "$n" "coscrawl floor wget2 wget:"
		obey= ;;
	*) echo "bench-peers: no site '$site'" >&2; exit 2 ;;
	esac
done
awk -v json="$json" -f src/bench/peers.awk "$work/results"
