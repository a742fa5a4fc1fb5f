#!/bin/sh
# hook_cost.t - what the hooks cost a step, in instructions: compiled out, off, and
# with four empty callbacks. The other steps are shown by make bench-hooks: files go
# through threads, and what these count depends on who else wants the machine.
builddir=${builddir:-.} srcdir=${srcdir:-.}
. "$srcdir/tests/tap.sh"
command -v valgrind >/dev/null 2>&1 || skip_all "no valgrind here"
with=$builddir/src/bench/bench_hooks without=$builddir/src/bench/bench_hooks_out
make -s -C "$builddir" src/bench/bench_hooks src/bench/bench_hooks_out >/dev/null 2>&1 || skip_all "bench_hooks cannot be made here"
if nm "$with" 2>/dev/null | grep -qE ' __(asan|tsan|ubsan)_' || nm -D "$with" 2>/dev/null | grep -qE ' __(asan|tsan)_init'; then
	skip_all "instructions of a sanitizer say nothing"
fi
said=$(STEPS=cps-sleep sh "$srcdir/src/bench/bench_hooks.sh" "$with" "$without")
ok $? "C53 cps-sleep: off at most 1.10 of compiled out, four empty callbacks at most 1.5 of off"
printf '%s\n' "$said" | sed 's/^/# /'
done_testing
