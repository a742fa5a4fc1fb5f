# tap.sh - sourced by the tests that are shell scripts: the words of tap.h for
# them. A test that knows more about a failure says it in its own explain().
# shellcheck shell=sh
n=0 failed=0
explain() { :; }
ok() { # STATUS DESCRIPTION
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		failed=1
		echo "not ok $n - $2"
		explain 2>&1 | sed 's/^/# /'
	fi
}
is() { # GOT WANTED DESCRIPTION
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		printf 'got: %s\nexpected: %s\n' "$1" "$2" | sed 's/^/# /'
	fi
}
none() { # OFFENDERS DESCRIPTION
	if [ -z "$1" ]; then
		ok 0 "$2"
	else
		ok 1 "$2"
		printf '%s\n' "$1" | sed 's/^/# /'
	fi
}
skip() { # WHY
	n=$((n + 1))
	echo "ok $n # SKIP $1"
}
skip_all() { # WHY
	echo "1..0 # SKIP $1"
	exit 0
}
done_testing() {
	echo "1..$n"
	exit "$failed"
}
