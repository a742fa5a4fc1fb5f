#!/usr/bin/env python3
"""trace_svg.py TRACE - a trace of coscrawl as a picture: a row per lane, a bar per
page in the colours of its phases, a curve from the page that found a link. SVG on
stdout. The picture of the README: coscrawl site --shape=tree --latency=40
--pages=60, crawled with --trace, -j 6, --host-concurrency=6 and --no-adaptive."""
import json, sys
from xml.sax.saxutils import escape

COLOURS = {"name lookup": "#8e6bbf", "connect": "#d98c3f", "TLS": "#c94f4f", "first byte": "#e3c04b",
           "transfer": "#5b9bd5", "scan": "#58a868", "store": "#8c8c8c"}
WIDTH, ROW, LEFT, TOP = 1000, 22, 60, 46
events = json.load(open(sys.argv[1]))["traceEvents"]
pages = [e for e in events if e["ph"] == "X"]
lanes = {k: i for i, k in enumerate(sorted({(e["pid"], e["tid"]) for e in pages}))}
start, end = min(e["ts"] for e in pages), max(e["ts"] + e["dur"] for e in pages)
x = lambda ts: LEFT + (ts - start) * (WIDTH - LEFT - 10) / (end - start)
y = lambda e: TOP + lanes[(e["pid"], e["tid"])] * ROW
height = TOP + len(lanes) * ROW + 30
out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">',
       f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
at = LEFT
for name, colour in COLOURS.items():
    out.append(f'<rect x="{at}" y="10" width="12" height="12" fill="{colour}"/><text x="{at + 16}" y="20">{name}</text>')
    at += 34 + 6.5 * len(name)
for (pid, tid), i in lanes.items():
    out.append(f'<text x="4" y="{TOP + i * ROW + 13}">lane {tid}</text>')
for e in pages:
    out.append(f'<rect x="{x(e["ts"]):.1f}" y="{y(e)}" width="{max(x(e["ts"] + e["dur"]) - x(e["ts"]), 0.5):.1f}" height="16" '
               f'fill="#eee" stroke="#999" stroke-width=".5"><title>{escape(e["name"])}</title></rect>')
begun = {}
for e in events:
    if e["ph"] == "b":
        begun[e["id"], e["name"]] = e
    elif e["ph"] == "e" and e["name"] in COLOURS:
        b = begun[e["id"], e["name"]]
        out.append(f'<rect x="{x(b["ts"]):.1f}" y="{y(e) + 2}" width="{max(x(e["ts"]) - x(b["ts"]), 0.4):.1f}" height="12" fill="{COLOURS[e["name"]]}"/>')
tails = {}
for e in events:
    if e["ph"] == "s":
        tails[e["id"]] = e
    elif e["ph"] == "f" and e["id"] in tails:
        s = tails[e["id"]]
        a, b = (x(s["ts"]), y(s) + 8), (x(e["ts"]), y(e) + 8)
        out.append(f'<path d="M{a[0]:.1f} {a[1]}C{a[0] + 25:.1f} {a[1]} {b[0] - 25:.1f} {b[1]} {b[0]:.1f} {b[1]}" fill="none" stroke="#345" stroke-width=".6" opacity=".45"/>')
step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10 ** 9) if (end - start) / 1000 / s <= 12)
for ms in range(0, int((end - start) / 1000 * 0.97), step):
    out.append(f'<text x="{x(start + ms * 1000):.1f}" y="{height - 8}" fill="#555">{ms} ms</text>')
print("\n".join(out + ["</svg>"]))
