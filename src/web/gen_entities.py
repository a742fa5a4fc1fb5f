#!/usr/bin/env python3
"""Writes entity_table.h, the table of all named character references.

    python3 src/web/gen_entities.py > src/web/entity_table.h

The names and their expansions come from the html5 dictionary of Python's
html.entities, which is the WHATWG list. The output is in the source tree so
that building needs no Python; run this again only if the standard grows.
"""
from html.entities import html5

HEAD = """\
/* entity_table.h - made by gen_entities.py; do not edit.
 * Every name without its ';', sorted by bytes, then NUL, then its expansion in
 * UTF-8, then NUL. {n} names, {legacy} of them also valid without ';': {total}
 * references in all. */
"""


def octal(text):
    return "".join("\\%03o" % b for b in text.encode())


def main():
    names = sorted(n[:-1] for n in html5 if n.endswith(";"))
    legacy = sorted(n for n in html5 if not n.endswith(";"))
    assert all(html5[n] == html5[n + ";"] for n in legacy)
    assert all(n.isalnum() and n.isascii() for n in names)
    print(HEAD.format(n=len(names), legacy=len(legacy), total=len(html5)), end="")
    print("enum {\n    ENTITY_COUNT = %d,\n    ENTITY_LEGACY_COUNT = %d,\n    ENTITY_NAME_MAX = %d,"
          "\n    ENTITY_LEGACY_MAX = %d\n};\n"
          % (len(names), len(legacy), max(map(len, names)), max(map(len, legacy))))
    print("static const char entity_pool[] =")
    offsets, at = [], 0
    for n in names:
        offsets.append(at)
        at += len(n) + 1 + len(html5[n + ";"].encode()) + 1
        print('    "%s\\0" "%s\\0"' % (n, octal(html5[n + ";"])))
    assert at < 65536
    print("    ;\n\nstatic const unsigned short entity_at[ENTITY_COUNT] = {")
    rows = [offsets[i:i + 12] for i in range(0, len(offsets), 12)]
    for row in rows:
        print("    " + " ".join("%d," % o for o in row))
    print("};\n\n/* Indices into entity_at of the names that need no ';'. */")
    print("static const unsigned short entity_legacy[ENTITY_LEGACY_COUNT] = {")
    index = [names.index(n) for n in legacy]
    for i in range(0, len(index), 14):
        print("    " + " ".join("%d," % o for o in index[i:i + 14]))
    print("};")


main()
