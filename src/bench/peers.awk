# peers.awk - from the lines of peers.sh to tables. One line a run:
#   site tool round cpu-s wall-s rss-kB status pages requests missing extra twice wrong
# Medians; ratios are taken in each round against the other tool's run of that
# round, with the range of the middle half. -v json=FILE writes the table there, too.

function sorted(values, n,   i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && values[j] < values[j - 1]; j--) {
			t = values[j]; values[j] = values[j - 1]; values[j - 1] = t
		}
}

function quantile(values, n, q) { return values[int(1 + q * (n - 1) + 0.5)] }

function median(key, field,   a, n, r) {
	delete a
	n = 0
	for (r = 1; r <= rounds[key]; r++)
		if ((key, r, field) in v)
			a[++n] = v[key, r, field]
	sorted(a, n)
	return n ? quantile(a, n, 0.5) : 0
}

# Sets low, middle, high; returns the number of rounds that both ran in.
function ratio(key, other, field,   a, n, r) {
	delete a
	n = 0
	for (r = 1; r <= rounds[key]; r++)
		if ((key, r, field) in v && (other, r, field) in v && v[other, r, field] > 0)
			a[++n] = v[key, r, field] / v[other, r, field]
	sorted(a, n)
	low = n ? quantile(a, n, 0.25) : 0
	middle = n ? quantile(a, n, 0.5) : 0
	high = n ? quantile(a, n, 0.75) : 0
	return n
}

function shown(key, other, field) {
	return ratio(key, other, field) ? sprintf("%.2f [%.2f-%.2f]", middle, low, high) : "-"
}

function bar(what, where, key, other, field, least, value) {
	if (!ratio(key, other, field))
		return
	printf "%-28s %-11s %6.2f   %s %.2f   %s\n", what, where, middle, least ? ">=" : "<=", value, (least ? middle >= value : middle <= value) ? "ok" : "MISSED"
}

{
	key = $1 SUBSEP $2
	if (!(key in rounds)) { order[++count] = key; site[key] = $1; tool[key] = $2 }
	rounds[key] = $3
	if (!($1 in sites)) sites[$1] = ++nsites
	name[sites[$1]] = $1
	v[key, $3, "cpu"] = $4 / $8 * 1e6
	v[key, $3, "request"] = $4 / $9 * 1e6
	v[key, $3, "rate"] = $8 / $5
	v[key, $3, "rss"] = $6 / 1024
	pages[key] = $8; status[key] = $7
	missing[key] += $10; extra[key] += $11; twice[key] += $12; wrong[key] += $13
}

function row(key,   wget2, floor) {
	wget2 = site[key] SUBSEP "wget2"
	floor = site[key] SUBSEP (tool[key] ~ /list/ ? "floor-list" : "floor")
	printf "%-11s %-14s %7d %8.1f %8.1f %8.0f %7.1f %7d %5d %5d %5d  %-17s %-17s %-17s %-17s\n", site[key], tool[key], pages[key], median(key, "cpu"), median(key, "request"), median(key, "rate"), median(key, "rss"), missing[key], extra[key], twice[key], wrong[key], shown(key, wget2, "cpu"), shown(key, floor, "cpu"), shown(key, wget2, "rate"), shown(key, wget2, "rss")
}

function object(key, out,   wget2, floor) {
	wget2 = site[key] SUBSEP "wget2"
	floor = site[key] SUBSEP (tool[key] ~ /list/ ? "floor-list" : "floor")
	printf "{\"site\":\"%s\",\"tool\":\"%s\",\"rounds\":%d,\"pages\":%d,\"cpu_us_page\":%.1f,\"cpu_us_request\":%.1f,\"pages_s\":%.0f,\"rss_mb\":%.1f,\"missing\":%d,\"extra\":%d,\"twice\":%d,\"wrong\":%d,\"status\":%d", site[key], tool[key], rounds[key], pages[key], median(key, "cpu"), median(key, "request"), median(key, "rate"), median(key, "rss"), missing[key], extra[key], twice[key], wrong[key], status[key] > out
	if (ratio(key, wget2, "cpu"))
		printf ",\"cpu_wget2\":[%.3f,%.3f,%.3f]", low, middle, high > out
	if (ratio(key, floor, "cpu"))
		printf ",\"cpu_floor\":[%.3f,%.3f,%.3f]", low, middle, high > out
	printf "}" > out
}

function bars(   i, at, ours, documentation) {
	printf "\n%-28s %-11s %6s\n", "coscrawl", "site", "seen"
	for (i = 1; i <= nsites; i++) {
		at = name[i]; ours = at SUBSEP "coscrawl"
		documentation = at !~ /^[0-9]/
		if (at == "5k" || documentation) {
			bar("CPU / wget2", at, ours, at SUBSEP "wget2", "cpu", 0, documentation ? 0.60 : 0.45)
			bar("CPU / floor", at, ours, at SUBSEP "floor", "cpu", 0, documentation ? 2.2 : 2.0)
			bar("pages a second / wget2", at, ours, at SUBSEP "wget2", "rate", 1, documentation ? 1.2 : 1.5)
		}
		if (at == "100k" || documentation)
			bar("memory / wget2", at, ours, at SUBSEP "wget2", "rss", 0, documentation ? 1.5 : 0.6)
		if (at == "5k")
			bar("--list CPU / floor", at, at SUBSEP "coscrawl-list", at SUBSEP "floor-list", "cpu", 0, 2.0)
		printf "%-28s %-11s %6d   <= 0      %s\n", "missing, double, wrong", at, missing[ours] + twice[ours] + wrong[ours], missing[ours] + twice[ours] + wrong[ours] ? "MISSED" : "ok"
	}
}

END {
	printf "%-11s %-14s %7s %8s %8s %8s %7s %7s %5s %5s %5s  %-17s %-17s %-17s %-17s\n", "site", "tool", "pages", "us/page", "us/req", "pages/s", "RSS MB", "missing", "extra", "twice", "wrong", "CPU / wget2", "CPU / floor", "pages/s / wget2", "RSS / wget2"
	if (json) printf "[" > json
	for (i = 1; i <= count; i++) {
		row(order[i])
		if (json) {
			if (i > 1) print "," > json
			object(order[i], json)
		}
	}
	if (json) print "]" > json
	bars()
}
