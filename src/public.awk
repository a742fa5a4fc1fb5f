# public.awk - the public headers, seen from outside.
#   awk -v mode=header -f public.awk HEADER    the header as it is installed
#   awk -v mode=names -f public.awk HEADER…    the functions it declares, a line each
#   awk -v mode=map -v version=V -f …          the same as a linker's version script
# Inside the tree a header names its parts as "base/buf.h". Installed it says
# <coscrawl/base/buf.h>: a program may have a base/buf.h of its own, and one -I
# must do. Sections headed "between the faces" or "for the other
# rooms" are ours alone and stay here.
# Rejected: headers that are written the installed way in the tree, too. Every
# room would then need a directory of links named coscrawl.

function installed(line, name)
{
    name = line
    sub(/^[^"]*"/, "", name)
    sub(/".*/, "", name)
    if (name !~ /^coscrawl(-cps)?\.h$/)
        name = "coscrawl/" name
    return "#include <" name ">"
}

# The line without comments, also those that begin or end elsewhere.
function bare(line, out, at)
{
    out = ""
    while (line != "") {
        at = index(line, comment ? "*/" : "/*")
        if (!comment)
            out = out (at ? substr(line, 1, at - 1) : line)
        if (!at)
            break
        line = substr(line, at + 2)
        comment = !comment
    }
    return out
}

function declared(text, name)
{
    gsub(/__attribute__ *\(\(.*\)\)/, "", text)
    if (text ~ /typedef|\{|\}|=/ || !match(text, /(cos|cps)_[a-z0-9_]+\(/))
        return
    name = substr(text, RSTART, RLENGTH - 1)
    if (name ~ /^(cos|cps)__/)
        return
    if (mode == "map")
        print "    " name ";"
    else
        print name
}

FNR == 1 { inside = 0; held = ""; code = ""; depth = 0; comment = 0 }

/^\/\* --- / { inside = /between the faces|for the other rooms/ }
inside && !/^#endif/ { next }
inside { inside = 0 }

# The blank line before a section that is left out goes with it.
mode == "header" && /^$/ { held = held "\n"; next }
mode == "header" {
    printf "%s", held
    held = ""
    print /^#include "/ ? installed($0) : $0
    next
}

# Declarations: comments and preprocessor lines out, what is in braces out, the
# rest joined up to each ";".
{
    line = bare($0)
    if (macro || line ~ /^#/) {
        macro = line ~ /\\$/
        next
    }
    if (line ~ /^extern "C" \{/ || (line ~ /^\}$/ && !depth))
        next
    depth += gsub(/\{/, "{", line) - gsub(/\}/, "}", line)
    code = code " " line
    if (!depth && line ~ /;[ \t]*$/) {
        declared(code)
        code = ""
    }
}

BEGIN { if (mode == "map") print "/* Made by src/public.awk from the public headers. */\nCOSCRAWL_" version " {\nglobal:" }
END { if (mode == "map") print "    dill_[a-z]*;\nlocal:\n    *;\n};" }
