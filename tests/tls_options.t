#!/bin/sh
# tls_options.t - certificates and HTTP/2 against nginx: --cacert, --insecure, --http2.
coscrawl=${COSCRAWL:-./coscrawl}
. "${srcdir:-.}/tests/tap.sh"
PATH=$PATH:/usr/sbin
for tool in nginx openssl; do
	command -v $tool >/dev/null 2>&1 || skip_all "no $tool here"
done
tmp=$(mktemp -d) || exit 1
chmod 755 "$tmp"
nginx_pid=
trap '[ -z "$nginx_pid" ] || kill "$nginx_pid"; rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>/dev/null || exit 1
mkdir www
echo '<a href=two.html>two</a>' >www/index.html
echo two >www/two.html
# A port of our own: the first one that nginx can bind.
port=$((20000 + $$ % 20000))
for _ in 1 2 3 4 5 6 7 8 9 10; do
	cat >nginx.conf <<-END
		daemon off; pid $tmp/pid; error_log $tmp/error.log;
		events {}
		http {
			log_format short '\$server_protocol \$request_uri';
			access_log $tmp/access.log short;
			client_body_temp_path $tmp/a; proxy_temp_path $tmp/b; fastcgi_temp_path $tmp/c;
			uwsgi_temp_path $tmp/d; scgi_temp_path $tmp/e;
			server {
				listen 127.0.0.1:$port ssl http2;
				ssl_certificate $tmp/cert.pem; ssl_certificate_key $tmp/key.pem;
				types { text/html html; } root $tmp/www;
			}
		}
	END
	nginx -p "$tmp" -c "$tmp/nginx.conf" 2>/dev/null &
	nginx_pid=$!
	tries=0
	while [ ! -s pid ] && kill -0 $nginx_pid 2>/dev/null && [ $tries -lt 50 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	[ -s pid ] && break
	kill $nginx_pid 2>/dev/null
	port=$((port + 7))
done

explain() { cat err access.log; }
crawl() { # WANTED-CODE ARGUMENT...
	want=$1
	shift
	rm -rf d
	: >access.log
	"$coscrawl" --no-progress -t 1 -P d "$@" "https://localhost:$port/" >out 2>err
	code=$?
	sleep 0.1
	[ $code = "$want" ]
	ok $? "$* https://localhost/: exit $want (got $code)"
}
resolve='--resolve=localhost:*:127.0.0.1'
crawl 5 "$resolve"
[ ! -s access.log ]
ok $? "an unknown certificate: no request is made"
grep -q "^coscrawl: https://localhost:$port/: certificate is not trusted: self-signed certificate\$" err
ok $? "and one line says what is wrong with it"
crawl 0 "$resolve" --insecure
grep -q '/two.html' access.log
ok $? "--insecure: the pages come"
crawl 0 "$resolve" --cacert=cert.pem
grep -q '^HTTP/2.0 /two.html' access.log
ok $? "--cacert: trusted, and HTTP/2 is used by default"
crawl 0 "$resolve" --cacert=cert.pem --no-http2
grep -q '^HTTP/1.1 /two.html' access.log && ! grep -q HTTP/2 access.log
ok $? "--no-http2: HTTP/1.1"
rm -rf d
"$coscrawl" --no-progress -t 1 -P d --cacert=cert.pem "https://127.0.0.1:$port/" >out 2>err
[ $? = 5 ]
ok $? "a certificate for another name: exit 5"
grep -q "/: certificate is for another name: no alternative certificate subject name matches target host name '127.0.0.1'\$" err
ok $? "and one line says which name"
crawl 3 --cacert=missing.pem
done_testing
