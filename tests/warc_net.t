#!/bin/sh
# warc_net.t - archives of what comes by HTTP/2 and through a proxy, from a real
# nginx, and what does not go with archives on the command line.
srcdir=$(cd "${srcdir:-.}" && pwd)
coscrawl=$(realpath "${COSCRAWL:-./coscrawl}")
. "$srcdir/tests/tap.sh"
work=$(mktemp -d) || exit 1
nginx=
trap 'kill $nginx 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
explain() { tail -n 5 out; }
run() { "$coscrawl" --no-config "$@" >out 2>&1; }

# --- words that do not go together --------------------------------------------------
refused() { # WORDS MESSAGE
	# shellcheck disable=SC2086
	run $1 http://127.0.0.1:1/
	code=$?
	test "$code" = 2 && grep -qF -- "$2" out
	ok $? "$1: $2"
}
refused "--warc-file=a --from-warc=b" "--warc-file and --from-warc exclude each other"
refused "--warc-cdx" "--warc-cdx needs --warc-file"
refused "--warc-max-size=1M" "--warc-max-size needs --warc-file"
refused "--warc-file=" "--warc-file: is empty"
test -z "$(find . -name 'a*' -o -name .coscrawl)"
ok $? "and nothing was begun"
run -P x --from-warc=none.warc.gz http://127.0.0.1:1/
is $? 3 "an archive that is not there: exit 3"
echo "a letter" >letter.warc.gz
run -P x --from-warc=letter.warc.gz http://127.0.0.1:1/
grep -q "letter.warc.gz: not a WARC file" out
ok $? "one that is none is named"

# --- a server ----------------------------------------------------------------------
for program in nginx openssl zcat; do
	if ! command -v $program >/dev/null 2>&1; then
		skip "no $program here"
		done_testing
	fi
done
mkdir www tmp
echo '<title>h</title><a href=a.html>a</a><img src=p.png><a href=/old>o</a><a href=/no.html>n</a>' >www/index.html
awk 'BEGIN { for (i = 0; i < 300; i++) print "<p>line " i " of a page worth compressing" }' >www/a.html
echo '<a href=/>x</a>' >www/b.html
head -c 70000 /dev/urandom >www/p.png
openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost >/dev/null 2>&1
port=$((20000 + $$ % 20000))
tries=0
while
	cat >n.conf <<-END
		daemon off; master_process off; pid $work/pid; error_log $work/error.log; user root;
		events {}
		http { include /etc/nginx/mime.types; access_log $work/log; gzip on; gzip_min_length 10;
		client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp;
		scgi_temp_path tmp; root $work/www;
		server { listen 127.0.0.1:$port ssl http2; ssl_certificate c.pem; ssl_certificate_key k.pem;
		location = /old { return 301 /b.html; } }
		server { listen 127.0.0.1:$((port + 1)); location = /old { return 301 /b.html; } }
		server { listen 127.0.0.1:$((port + 2));
		location / { proxy_pass http://\$http_host\$request_uri; proxy_http_version 1.1;
		proxy_set_header User-Agent proxy; } } }
	END
	nginx -p "$work" -c "$work/n.conf" >nginx.out 2>&1 &
	nginx=$!
	sleep 0.3
	! kill -0 $nginx 2>/dev/null && [ $tries -lt 5 ]
do
	port=$((port + 7))
	tries=$((tries + 1))
done
if ! kill -0 $nginx 2>/dev/null; then
	skip "nginx does not start: $(tail -n 1 nginx.out)"
	done_testing
fi

both() { # NAME PATTERN URL OPTION...: a crawl into an archive, and out of it
	name=$1 seen=$2 url=$3
	shift 3
	: >log
	run -P "$name" --warc-file="$name" "$@" "$url"
	is $? 8 "$name: a page is missing"
	run -P "$name-1" --from-warc="$name.warc.gz" "$url"
	is $? 8 "$name: so it is in the archive"
	diff -r --exclude=.coscrawl "$name" "$name-1" >out 2>&1
	ok $? "$name: the pages of the archive are those of the net"
	zcat "$name.warc.gz" >"$name.warc"
	is "$(grep -ac '^WARC-Type: request' "$name.warc")" "$(grep -c "$seen" log)" \
		"$name: a record for each request in the server's log"
}
both h2 HTTP/2 "https://localhost:$port/" --cacert=c.pem
is "$(grep -vc 'HTTP/2.0' log)" 0 "h2: all came by HTTP/2"
test "$(grep -ac '^WARC-Protocol: h2' h2.warc)" -ge 10
ok $? "h2: the records say so"
grep -aq '^HTTP/1.1 200' h2.warc && ! grep -aq '^HTTP/2' h2.warc
ok $? "h2: their heads have the form of HTTP/1.1"
grep -aqi '^content-encoding: gzip' h2.warc
ok $? "h2: bodies are as they came"

both proxy coscrawl/ "http://127.0.0.1:$((port + 1))/" --proxy="http://127.0.0.1:$((port + 2))"
grep -aq "^GET http://127.0.0.1:$((port + 1))/a.html HTTP/1.1" proxy.warc
ok $? "proxy: requests are as they were sent"
grep -aqi '^transfer-encoding: chunked' proxy.warc
ok $? "proxy: chunks are kept"
is "$(grep -acE '^WARC-Type: (response|revisit)' proxy.warc)" \
	"$(grep -ac '^WARC-Type: metadata' proxy.warc)" "proxy: one answer for each exchange"
done_testing
