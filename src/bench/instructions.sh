#!/bin/sh
# instructions.sh NAME PROGRAM - instructions for one operation of PROGRAM, which
# takes a number of rounds and prints how many operations a round holds. Counted
# by callgrind at two round counts; the difference leaves out start and end.
set -eu
name=$1 program=$2
command -v valgrind >/dev/null 2>&1 || { echo "$name: no valgrind here, instructions not counted"; exit 0; }
few=100 many=600
count() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" 2>&1 >/dev/null |
		sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
each=$("$program" 1 | tail -n 1)
a=$(count $few)
b=$(count $many)
awk -v a="$a" -v b="$b" -v n="$(((many - few) * each))" -v name="$name" \
	'BEGIN { printf "%s: %.0f instructions on average\n", name, (b - a) / n }'
