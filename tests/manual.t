#!/bin/sh
# manual.t - every manual page is well-formed mdoc.
srcdir=${srcdir:-.}
. "$srcdir/tests/tap.sh"
command -v mandoc >/dev/null 2>&1 || skip_all "no mandoc here"
for page in "$srcdir"/man/*.[1-9]; do
	# Which other manuals there are depends on the machine.
	none "$(mandoc -T lint "$page" 2>&1 | grep -vE 'referenced manual not found|mandoc\.db')" \
		"mandoc -T lint $(basename "$page")"
done
done_testing
