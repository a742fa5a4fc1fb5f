#!/bin/sh
# bench_flow.sh PROGRAM - the table of bench_flow with instructions per step
# beside the time, where valgrind is there.
set -eu
program=$1
short=20000 long=220000

instructions() { # ROW STEPS
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 |
		awk '/Collected/ { print $4 }'
}

printf '%-50s %8s %14s\n' "a step of" "ns" "instructions"
"$program" | while IFS='	' read -r row ns what; do
	count=-
	if command -v valgrind >/dev/null 2>&1; then
		few=$(instructions "$row" "$short")
		many=$(instructions "$row" "$long")
		count=$(awk -v a="$few" -v b="$many" -v n=$((long - short)) 'BEGIN { printf "%.1f", (b - a) / n }')
	fi
	printf '%-50s %8s %14s\n' "$what" "$ns" "$count"
done
