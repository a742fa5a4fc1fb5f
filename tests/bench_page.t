#!/bin/sh
# bench_page.t - the page of `coscrawl bench --html` in a browser: what it shows agrees
# with the JSON of the same run, and it can be read on a desk and on a telephone.
# A script is put into a copy of the page that measures what the browser made of
# it; the page itself has none.
coscrawl=${COSCRAWL:-./coscrawl}
. "${srcdir:-.}/tests/tap.sh"
browser=
for name in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || browser=$(command -v $name)
done
[ -n "$browser" ] || skip_all "no chromium here"
command -v jq >/dev/null 2>&1 || skip_all "no jq here"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

"$coscrawl" bench --style=sequential,parallel,queue,hell,discipline --leaves=null,replay --shape=one,cross,errors \
	--rounds=1 --no-instructions -q --json --side-by-side=hell-cps,queue-co --html="$tmp/page.html" >"$tmp/json"
is $? 0 "a page was made"

cat >"$tmp/measure.html" <<'EOF'
<script>
let said = "";
const say = (name, value) => { said += name + " " + value + "\n"; };
const all = (what) => Array.from(document.querySelectorAll(what));
const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
say("width", innerWidth);
say("overflow", Math.max(0, document.documentElement.scrollWidth - innerWidth));
say("plots", all("figure svg").length);
say("bars", all("svg rect").length);
say("grey", all("svg rect.bar-bad").length);
say("empty", all("svg rect").filter((r) => r.getBoundingClientRect().width < 1).length);
say("cut", all("svg text").filter((t) => !inside(t.getBoundingClientRect(), t.closest("svg").getBoundingClientRect())).length);
say("small", all("svg text").filter((t) => t.getBoundingClientRect().height < 9).length);
say("rows", all("h2[id^=t] ~ .scroll tr td.co, h2[id^=t] ~ .scroll tr td.cps").length);
say("dead", all("nav a").filter((a) => !document.getElementById(a.hash.slice(1))).length);
say("code", all(".sides pre").map((p) => p.textContent.split("\n").length > 20).join());
const sides = all(".sides > div").map((d) => d.getBoundingClientRect());
say("beside", sides.length === 2 && Math.abs(sides[0].top - sides[1].top) < 2);
const light = (text) => {
	const c = text.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
};
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
const ground = getComputedStyle(document.body).backgroundColor;
say("faint", all("p, a, td, th, dt, h1, h2, figcaption, pre i").filter((e) => contrast(getComputedStyle(e).color, ground) < 4.5).length);
say("unlabelled", all("svg").filter((s) => !s.getAttribute("aria-label")).length);
say("unreachable", all(".scroll").filter((d) => d.tabIndex !== 0).length);
const row = (td) => Array.from(td.parentNode.cells).map((c) => c.textContent);
all("h2[id^=t] + .plots + .scroll td:nth-child(2)").forEach((td) => { const c = row(td); say("row", c[0] + " " + c[1] + " " + c[5] + " " + c[6] + " " + c[7] + " " + c[c.length - 1]); });
parent.postMessage(said, "*");
</script>
EOF
cat "$tmp/page.html" "$tmp/measure.html" >"$tmp/copy.html"

# A window has a least width; a frame has not.
look() { # WIDTH
	cat >"$tmp/frame.html" <<-EOF
		<!DOCTYPE html>
		<pre id="measured"></pre>
		<script>onmessage = (e) => { document.getElementById("measured").textContent = "\\n" + e.data; };</script>
		<iframe src="copy.html" style="border:0;width:$1px;height:900px"></iframe>
	EOF
	timeout 100 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" \
		--window-size=1400,900 --virtual-time-budget=5000 --dump-dom "file://$tmp/frame.html" \
		2>"$tmp/err" | sed -n '/id="measured"/,/<\/pre>/p' >"$tmp/measured"
}
measured() { sed -n "s/^$1 //p" "$tmp/measured"; }

cells=$(jq '.cells | length' "$tmp/json")
sources=$(jq '.sources | length' "$tmp/json")
for width in 1280 390; do
	look $width
	is "$(measured width)" $width "a window $width wide"
	is "$(measured overflow)" 0 "$width wide: nothing sticks out"
	is "$(measured cut)" 0 "$width wide: no text of a plot is cut off"
	is "$(measured small)" 0 "$width wide: nor too small"
	is "$(measured beside)" "$([ $width -gt 1000 ] && echo true || echo false)" \
		"$width wide: the sources stand $([ $width -gt 1000 ] && echo beside || echo below) each other"
done
is "$(measured bars)" "$cells" "a bar for every cell"
is "$(measured empty)" 0 "none of them empty"
is "$(measured grey)" "$(jq '[.cells[] | select(.valid | not)] | length' "$tmp/json")" "the invalid ones are grey"
is "$(measured rows)" $((cells + sources)) "a row for every cell and every source"
is "$(measured dead)" 0 "every entry of the contents leads somewhere"
is "$(measured code)" true,true "two sources are there"
is "$(measured faint)" 0 "every text stands out from its ground, 4.5 to 1 at least"
is "$(measured unlabelled)" 0 "every plot has a name"
is "$(measured unreachable)" 0 "the keyboard reaches every table"
jq -r 'def two: (. * 100 | round) as $n | "\($n / 100 | floor).\(("0" + ($n % 100 | tostring))[-2:])";
	.cells[] | "\(.style) \(.face) \(.requests) \(.duplicates) \(.lost) \(if .ratio then (.ratio | two) + " [" + (.ratio_low | two) + ", " + (.ratio_high | two) + "]" else "–" end)"' \
	"$tmp/json" >"$tmp/wanted"
is "$(measured row)" "$(cat "$tmp/wanted")" "requests, duplicates, lost pages and ratios are those of the JSON"
done_testing
