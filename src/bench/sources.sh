#!/bin/sh
# sources.sh DIR - the spiders of DIR as a C table: bench_sources of bench.h.
set -eu
dir=$1
echo '/* Made by sources.sh from examples/spider; do not edit. */'
echo '#include "bench/bench.h"'
echo 'const struct bench_source bench_sources[] = {'
for file in "$dir"/[1-6]*_*.c; do
	name=$(basename "$file" .c)
	name=${name#?}
	printf '{"%s", "%s", "%s",\n' "${name%_*}" "${name#*_}" "$(basename "$file")"
	sed 's/\\/\\\\/g; s/"/\\"/g; s/?/\\?/g; s/^/"/; s/$/\\n"/' "$file"
	echo '},'
done
echo '{NULL, NULL, NULL, NULL},'
echo '};'
