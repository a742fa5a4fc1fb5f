#!/bin/sh
# manual.t - every manual page is well-formed mdoc.
srcdir=${srcdir:-.}
n=0 failed=0
if ! command -v mandoc >/dev/null 2>&1; then
	echo "1..0 # SKIP no mandoc here"
	exit 0
fi
for page in "$srcdir"/man/*.[1-9]; do
	n=$((n + 1))
	said=$(mandoc -T lint -W warning "$page" 2>&1)
	if [ -z "$said" ]; then
		echo "ok $n - mandoc -T lint $(basename "$page")"
	else
		failed=1
		echo "not ok $n - mandoc -T lint $(basename "$page")"
		printf '%s\n' "$said" | sed 's/^/# /'
	fi
done
echo "1..$n"
exit $failed
