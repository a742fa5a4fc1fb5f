#!/bin/bash
# completion.t - what the tab key offers. Options come from --help, which
# options.t compares with the parser.
srcdir=${srcdir:-.}
PATH=$(dirname "${COSCRAWL:-./coscrawl}"):$PATH
# shellcheck disable=SC1091
. "$srcdir/completions/coscrawl" || exit 1
. "$srcdir/tests/tap.sh"
offers() { # WANTED WORD...
	want=$1
	shift
	COMP_WORDS=(coscrawl "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_coscrawl 2>/dev/null
	is "${COMPREPLY[*]}" "$want" "'$*' offers '$want'"
}
offers --scope --sc
offers --robots --robo
offers "--no-robots --no-random-wait --no-retry-on-http-error" --no-r
offers host --scope = ho
offers "page prefix host domain any" --scope =
offers "text jsonl csv dot" --format ""
offers "auto always never" --color = ""
offers why w
offers --shape site --sh
offers --level -q --list --lev
offers "$srcdir/completions" -P "$srcdir/complet"
offers "" -l ""
done_testing
