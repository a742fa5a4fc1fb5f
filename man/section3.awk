# section3.awk - section 3 of the manual, made from the public headers: what a
# programmer reads there and in the manual is one text.
#   awk -v page=NAME -v about=TEXT -v date=DATE -f section3.awk HEADER…   one page of them all
#   awk -v dir=DIR -v date=DATE -f section3.awk HEADER…                   a page per function,
#       and on stdout a line for each: its name and that of its page
# A comment and the declarations that follow it without a blank line are a
# group, and share a page. A comment that a blank line follows is about what
# comes next. The comments' own form is kept: paragraphs, lists of "- ", and
# indented lines, which stay as they are.

function escaped(text)
{
    gsub(/\\/, "\\e", text)
    return text ~ /^[.']/ ? "\\&" text : text
}

# --- text --------------------------------------------------------------------------------

# A sentence begins a line, and a line has at most 78 characters.
function wrapped(text, words, count, i, line)
{
    count = split(text, words, " ")
    line = ""
    for (i = 1; i <= count; i++) {
        if (line != "" && length(line) + length(words[i]) > 64) {
            put(escaped(line))
            line = ""
        }
        if (words[i] ~ /^[a-z_0-9]+\(\)[.,:;]?$/) {
            if (line != "")
                put(escaped(line))
            line = ""
            sub(/\(\)/, " ", words[i])
            put(".Fn " trimmed(words[i]))
            continue
        }
        line = line == "" ? words[i] : line " " words[i]
        if (words[i] ~ /[.]$/) {
            put(escaped(line))
            line = ""
        }
    }
    if (line != "")
        put(escaped(line))
}

function flush_paragraph()
{
    if (paragraph == "")
        return
    wrapped(paragraph)
    paragraph = ""
}

function mode(new)
{
    if (new == form)
        return
    flush_paragraph()
    if (form == "list")
        put(".El")
    if (form == "literal")
        put(".Ed")
    if (form != "" && new == "")
        put(".Pp")
    form = new
    if (form == "list")
        put(".Bl -bullet -compact")
    if (form == "literal")
        put(".Bd -literal -offset indent")
}

function prose(text, lines, count, i, line)
{
    count = split(text, lines, "\n")
    form = ""
    paragraph = ""
    for (i = 1; i <= count; i++) {
        line = lines[i]
        if (line ~ /^ +- /) {
            mode("list")
            flush_paragraph()
            put(".It")
            sub(/^ +- /, "", line)
            paragraph = line
        } else if (line ~ /^  / && form == "list") {
            sub(/^ +/, "", line)
            paragraph = paragraph " " line
        } else if (line ~ /^  /) {
            mode("literal")
            put(escaped(line))
        } else if (line == "") {
            mode("")
            flush_paragraph()
            put(".Pp")
        } else {
            mode("")
            paragraph = paragraph == "" ? line : paragraph " " line
        }
    }
    mode("")
    flush_paragraph()
}

# --- declarations -----------------------------------------------------------------------

# .Ft, .Fo, .Fa … of one prototype.
function prototype(text, name, args, i, c, depth, arg)
{
    name = function_name(text)
    i = index(text, name "(")
    put(".Ft " trimmed(substr(text, 1, i - 1)))
    put(".Fo " name)
    args = substr(text, i + length(name) + 1)
    sub(/\);$/, "", args)
    arg = ""
    depth = 0
    for (i = 1; i <= length(args); i++) {
        c = substr(args, i, 1)
        depth += (c == "(") - (c == ")")
        if (c == "," && !depth) {
            put(".Fa \"" trimmed(arg) "\"")
            arg = ""
        } else {
            arg = arg c
        }
    }
    put(".Fa \"" trimmed(arg) "\"")
    put(".Fc")
}

function trimmed(text)
{
    gsub(/[ \t\n]+/, " ", text)
    sub(/^ /, "", text)
    sub(/ $/, "", text)
    return text
}

function function_name(text)
{
    return match(text, /(cos|cps)_[a-z0-9_]+\(/) ? substr(text, RSTART, RLENGTH - 1) : ""
}

function literal(text, lines, count, i)
{
    put(".Bd -literal")
    count = split(text, lines, "\n")
    for (i = 1; i < count; i++)
        put(escaped(lines[i]))
    put(".Ed")
}

# --- output -----------------------------------------------------------------------------

function put(line)
{
    # A break before or after what makes one itself is a mistake in mdoc.
    if (line == ".Pp") {
        broken = last !~ /^\.(Sh|Ss|It|Pp)/
        return
    }
    if (broken && line !~ /^\.(Bd|Bl|El|Sh|Ss|It)/)
        print ".Pp" >file
    broken = 0
    print line >file
    last = line
}

function head(names, what)
{
    put(".\\\" Made from the public headers by man/section3.awk.")
    put(".Dd " date)
    put(".Dt " toupper(names[1]) " 3")
    put(".Os")
    put(".Sh NAME")
    for (i = 1; i in names; i++)
        put(".Nm " names[i] ((i + 1) in names ? " ," : ""))
    put(".Nd " what)
    put(".Sh SYNOPSIS")
    put(".In " (names[1] ~ /^(cps|coscrawl-cps)/ ? "coscrawl-cps.h" : "coscrawl.h"))
}

# A line about the group: its first sentence, or else what its header is about.
function brief(name, text, twin)
{
    twin = name
    if (sub(/^cps_/, "cos_", twin) && (twin in docs))
        return "callback twin of " twin
    gsub(/ *\([^)]*\)/, "", text)
    text = trimmed(text)
    sub(/[.:;] .*/, "", text)
    sub(/[.:;]$/, "", text)
    if (text == "" || length(text) > 90)
        text = subject
    return escaped(text ~ /^[A-Z][A-Z]/ ? text : tolower(substr(text, 1, 1)) substr(text, 2))
}

# --- a page per function ------------------------------------------------------------------

function pages(names, i, twin)
{
    for (i = 1; i <= nfunctions; i++)
        names[i] = function_name(functions[i])
    file = dir "/" names[1] ".3"
    last = ""
    head(names, brief(names[1], doc))
    for (i = 1; i <= nfunctions; i++)
        prototype(functions[i])
    put(".Sh DESCRIPTION")
    prose(doc == "" ? subject "." : doc)
    if (types != "")
        literal(types)
    twin = names[1]
    if (sub(/^cps_/, "cos_", twin) && (twin in docs)) {
        put(".Ss Of the coroutine twin")
        prose(docs[twin])
    } else {
        twin = ""
    }
    put(".Sh SEE ALSO")
    if (twin != "")
        put(".Xr " twin " 3 ,")
    put(".Xr " overview(names[1]) " 3")
    close(file)
    for (i = 1; i <= nfunctions; i++) {
        docs[names[i]] = doc == "" ? subject "." : doc
        print names[i], names[1]
    }
}

function overview(name)
{
    if (name ~ /^cps_/)
        return "coscrawl-cps"
    return name ~ /^cos_(flow_|future_|await)/ ? "cos_flow" : "coscrawl"
}

# --- one page -----------------------------------------------------------------------------

function entry(i)
{
    put(".Pp")
    if (!nfunctions)
        prose(doc)
    if (types != "")
        literal(types)
    if (nfunctions) {
        put(".Bl -tag -width 4n")
        put(".It Xo")
        for (i = 1; i <= nfunctions; i++) {
            if (i > 1)
                put(".It Xo")
            prototype(functions[i])
            put(".Xc")
        }
    }
    if (nfunctions) {
        prose(doc)
        put(".El")
    }
    put(".Pp")
}

function flush_group()
{
    if (nfunctions && dir != "")
        pages()
    else if (dir == "" && (doc != "" || types != "" || nfunctions))
        entry()
    doc = types = ""
    nfunctions = 0
}

# --- reading ------------------------------------------------------------------------------

function comment_text(line)
{
    sub(/^\/\* ?/, "", line)
    sub(/ *\*\/$/, "", line)
    sub(/^ \* ?/, "", line)
    return line
}

function title(text)
{
    sub(/^--- /, "", text)
    sub(/ -+$/, "", text)
    return toupper(substr(text, 1, 1)) substr(text, 2)
}

# A whole comment, without its marks.
function comment_done(text, line)
{
    sub(/\n$/, "", text)
    if (first) {
        line = text
        sub(/^[^ ]+ - /, "", line)
        subject = trimmed(line)
        sub(/[.:;] .*/, "", subject)
        sub(/[.:;]$/, "", subject)
        first = 0
        if (dir == "") {
            if (headers++)
                put(".Sh " (header in titles ? titles[header] : toupper(header)))
            prose(toupper(substr(line, 1, 1)) substr(line, 2))
        }
    } else if (text ~ /^--- /) {
        flush_group()
        if (dir == "")
            put(".Ss " title(text))
        section = title(text)
    } else {
        flush_group()
        doc = text
    }
}

function declaration_done(text, flat)
{
    flat = text
    gsub(/ *__attribute__ *\(\(.*\)\)/, "", flat)
    flat = trimmed(flat)
    if (flat ~ /^(typedef|struct [a-z_]+ \{|struct [a-z_]+;|enum|union|#)/)
        types = types text
    else if (function_name(flat) != "")
        functions[++nfunctions] = flat
}

BEGIN {
    count = split("err.h=ERRORS,buf.h=BUFFERS,page.h=WHAT A PAGE HOLDS,file.h=FILES AND DIRECTORIES," \
        "pool.h=WORKER PROCESSES,request.h=REQUESTS,names.h=NAMES OF HOSTS,tidied.h=TIDY," \
        "shared.h=SHARED VALUES,options.h=CRAWLS,queue.h=THE QUEUE,future.h=FUTURES,cache.h=CACHE," \
        "gate.h=THE GATE,once.h=ONCE,hook.h=HOOKS,cps_flow.h=CONTROL FLOW,cps_shared.h=SHARED VALUES", list, ",")
    for (i = 1; i <= count; i++)
        titles[substr(list[i], 1, index(list[i], "=") - 1)] = substr(list[i], index(list[i], "=") + 1)
    if (dir == "") {
        file = "/dev/stdout"
        names[1] = page
        head(names, about)
        put(".Sh DESCRIPTION")
    }
}

FNR == 1 {
    flush_group()
    first = 1
    subject = section = code = ""
    header = FILENAME
    sub(/.*\//, "", header)
    in_comment = depth = macro = inside = 0
}

/^\/\* --- / { inside = /between the faces|for the other rooms/ }
inside { next }
/^#(ifndef|endif|include|ifdef|undef|else)/ || /^extern "C"/ || /^#define COS[A-Z_]*_H$/ || /^}$/ { next }

!depth && code == "" && /^\/\*/ { in_comment = 1; text = "" }
in_comment {
    text = text comment_text($0) "\n"
    if (/\*\/$/) {
        in_comment = 0
        comment_done(text)
    }
    next
}
/^$/ && code == "" { flush_group(); next }
{
    code = code $0 "\n"
    bare = $0
    gsub(/\/\*[^\/]*\*\//, "", bare)
    depth += gsub(/\{/, "{", bare) - gsub(/\}/, "}", bare)
    macro = (macro || /^#define/) && /\\$/
    if (!macro && !depth && (bare ~ /; *$/ || code ~ /^#define/)) {
        declaration_done(code)
        code = ""
    }
}

END {
    flush_group()
    if (dir == "") {
        put(".Sh SEE ALSO")
        put(".Xr coscrawl 1 ,")
        if (page != "cos_flow")
            put(".Xr cos_flow 3 ,")
        if (page != "coscrawl")
            put(".Xr coscrawl 3 ,")
        if (page != "coscrawl-cps")
            put(".Xr coscrawl-cps 3 ,")
        put(".Xr coscrawl-flow 7 ,")
        put(".Xr coscrawl-tutorial 7")
    }
}
