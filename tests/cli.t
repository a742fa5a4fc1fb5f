#!/bin/sh
# cli.t - bad usage: one clear line on stderr, nothing on stdout, exit 2, and
# nothing left behind in the directory. And what is said when help is asked for.
coscrawl=${COSCRAWL:-./coscrawl}
. "${srcdir:-.}/tests/tap.sh"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/cwd" && cd "$tmp/cwd" || exit 1
explain() {
	sed 's/^/stdout: /' "$tmp/out"
	sed 's/^/stderr: /' "$tmp/err"
	echo "exit $code"
}
run() {
	"$coscrawl" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
}
# refused WANTED-CODE TEXT ARGUMENT...: one line that holds TEXT.
refused() {
	want=$1 text=$2
	shift 2
	run "$@"
	[ "$code" = "$want" ] && [ "$(wc -l <"$tmp/err")" = 1 ] && [ ! -s "$tmp/out" ] &&
		grep -qF -e "$text" "$tmp/err" && [ -z "$(ls -A)" ] && ! LC_ALL=C grep -q '[[:cntrl:]]' "$tmp/err"
	ok $? "coscrawl $(printf '%s ' "$@" | LC_ALL=C tr -d '[:cntrl:]'): exit $want: ...$text..."
}
u=http://127.0.0.1:9/

# no URL, no sense
refused 2 "what to crawl?"
refused 2 "what to crawl?" -v -l 3
refused 2 "neither a command nor a URL" nonsense
refused 2 "could have the same name" -nH http://127.0.0.1:1/a http://127.0.0.1:2/a
refused 2 "did you mean 'coscrawl why'?" wyh
refused 2 "not a valid" http://
refused 2 "not a valid" "http://exa mple.org/"
refused 2 "not a valid" "http://[::1/"
refused 2 "not a valid" "http://a:99999/"
refused 2 "only http and https" ftp://example.org/
refused 2 "only http and https" mailto:me@example.org
refused 2 "only http and https" javascript:alert
refused 2 "not a URL" ""
esc=$(printf 'http://\033[31m\007/')
refused 2 "not a valid" "$esc"
refused 2 "not a valid" "$u" http://

# unknown options
refused 2 "did you mean --level?" --levle=3 $u
refused 2 "did you mean --no-robots?" --no-robot $u
refused 2 "did you mean --dry-run?" --dryrun $u
refused 2 "--face goes with --style" --face=cps $u
refused 2 "is not a file, or :PORT" --metrics=:x $u
refused 2 "is not a file, or :PORT" --metrics=:65536 $u
refused 2 "unknown option --frobnicate" --frobnicate $u
refused 2 "unknown option -z" -z $u
refused 2 "unknown option -z" -qz $u
refused 2 "unknown option -n" -n $u
refused 2 "unknown option --no-level" --no-level $u
refused 2 "unknown option --=3" --=3 $u
refused 2 "unknown option" "--$(printf '\033')[2J" $u
refused 2 "unknown option" "--$(printf '%0300d' 1)" $u

# habits from elsewhere
refused 2 "--insecure" -k $u
refused 2 "--convert-links" -k $u
refused 2 "recursive" -r $u
refused 2 "--no-robots" -e robots=off $u
refused 2 "same command" -nc $u
refused 2 "same command" -c $u
refused 2 "--scope=any" --span-hosts $u
refused 2 "--insecure" --no-check-certificate $u

# values that are missing or too many
for option in -l --level -P -o -i --scope -Q -w -H -A --rate --follow --resolve; do
	refused 2 "$option needs a value" $u $option
done
refused 2 "and --list is an option" -P --list $u
for option in --list --robots --no-robots --help --random-wait --no-proxy --no-color; do
	refused 2 "$option takes no value" $option=1 $u
done

# values that are wrong
refused 2 "'x' is not a whole number or 'inf'" -l x $u
refused 2 "not a whole number" -l -1 $u
refused 2 "not a whole number" --level= $u
refused 2 "too large" -l 99999999999999999999 $u
refused 2 "too large" -l 99999999999 $u
refused 2 "too small" -j 0 $u
refused 2 "too large" -j 5000 $u
refused 2 "too small" --host-concurrency=0 $u
refused 2 "too small" --max-memory=1k $u
refused 2 "not a size" -Q ten $u
refused 2 "not a size" --max-size=10X $u
refused 2 "not a size" --limit-rate=-5 $u
refused 2 "not a time" -w soon $u
refused 2 "not a time" -T 5y $u
refused 2 "not a time" --max-time=1:00 $u
refused 2 "not a rate" --rate=fast $u
refused 2 "not a rate" --rate=0 $u
refused 2 "not one of page, prefix, host, domain, any" --scope=galaxy $u
refused 2 "not one of text, jsonl" --format=xml $u
refused 2 "not one of auto, bar, plain, none" --progress=dots $u
refused 2 "not one of auto, always, never" --color=blue $u
refused 2 "not a list of all, a," --follow=form $u
refused 2 "not a list of all, a," --follow=a,,img $u
refused 2 "repeat=3" --trap-limit=5 $u
refused 2 "repeat=3" --trap-limit=depth=0 $u
refused 2 "repeat=3" --trap-limit=, $u
refused 2 "429,5xx" --retry-on-http-error=600 $u
refused 2 "429,5xx" --retry-on-http-error=50 $u
refused 2 "gzip" --compression=lzma $u
refused 2 "Name: value" -H nocolon $u
refused 2 "Name: value" -H ": empty" $u
refused 2 "Name: value" -H "$(printf 'A: b\r\nC: d')" $u
refused 2 "NAME:PASSWORD" -u secret $u
refused 2 "HOST:PORT:ADDRESS" --resolve=host:1.2.3.4 $u
refused 2 "HOST:PORT:ADDRESS" --resolve=host:0:1.2.3.4 $u
refused 2 "'xx' is not a list of addresses" --dns-server=xx $u
refused 2 "is not a list of addresses" --dns-server=192.0.2.1:99999 $u
refused 2 "is not a list of addresses" --dns-server=[::1 $u
refused 2 "is empty" -P "" $u
refused 2 "is empty" -A , $u
refused 2 "is empty" --cacert= $u
refused 2 "exclude each other" -4 -6 $u
refused 2 "exclude each other" --list --dry-run $u
refused 2 "needs -w" --random-wait $u
refused 2 "not with --list" --list --fresh $u
refused 2 "not with --dry-run" --dry-run --fresh $u
refused 2 "not a URL" --sitemap= $u
refused 2 "only http and https" --sitemap=file:///etc/passwd $u

# files
refused 3 "No such file" -i missing
refused 3 "no such file" --log-file=missing/x $u
refused 3 "no such file" -o missing/x --list $u
refused 3 "No such file" --cacert=missing $u
refused 3 "No such file" --load-cookies=missing $u
refused 2 "stdin holds no URL" -i -
printf 'http://a..b/\n' >"$tmp/hosts"
printf 'http://127.0.0.1:9/\n\n# note\nhttp://\n' >"$tmp/list"
refused 2 "list:4: 'http://': not a valid" -i "$tmp/list"
refused 2 "is a file, not a URL; to read URLs from it say -i" "$tmp/list"

# hosts that cannot be
refused 2 "'ht!tp://x': only http and https" 'ht!tp://x'
refused 2 "'a_b!' is not a host name" 'http://a_b!/'
refused 2 "'a..b' is not a host name" http://a..b/
refused 2 "is not a host name" "http://$(printf '%064d' 1)x/"
refused 2 "hosts:1: 'http://a..b/': 'a..b' is not a host name" -i "$tmp/hosts"

# why
refused 2 "coscrawl why DIR URL" why
refused 2 "coscrawl why DIR URL" why a b c
refused 2 "unknown option --all" why --all a
refused 2 "only http and https" why . ftp://x/
refused 2 "only http and https" why . 'ht!tp://x'
refused 2 "neither a command nor a URL" why . nonsense

# the other commands
for command in links path tidy site; do
	refused 2 "coscrawl $command: unknown option --frobnicate" $command --frobnicate
done
refused 2 "--agent UA comes first" robots
refused 2 "which URL?" path
refused 2 "a base URL" resolve
refused 2 "what to spider?" --style=queue
refused 2 "--parser is 'scan' or 'tidy', not 'guess'" --style=queue --parser=guess $u
refused 2 "'-w' does not go with --style" --style=queue -w 3 $u

run --help
[ $code = 0 ] && [ ! -s "$tmp/err" ] && grep -q '^Usage: coscrawl' "$tmp/out"
ok $? "--help goes to stdout and succeeds"
run --version
[ $code = 0 ] && [ ! -s "$tmp/err" ] && head -n 1 "$tmp/out" | grep -Eq '^coscrawl [0-9]+\.'
ok $? "--version says which"
for part in libdill libcurl c-ares libidn2 PCRE2 libpsl zlib "HTML Tidy" SQLite Nettle features; do
	grep -q "^  $part " "$tmp/out"
	ok $? "--version names $part"
done
run -V -l 3
[ $code = 0 ]
ok $? "-V needs no URL"
run why --help
[ $code = 0 ] && grep -q '^Usage: coscrawl why' "$tmp/out"
ok $? "why --help"
if [ -e /dev/full ]; then
	"$coscrawl" --help >/dev/full 2>"$tmp/err"
	code=$?
	: >"$tmp/out"
	[ $code = 3 ] && [ "$(wc -l <"$tmp/err")" = 1 ]
	ok $? "help that cannot be written is exit 3"
fi
done_testing
