# flow_man.awk - the listings of man/coscrawl-flow.7 that carry the mark FACE, as
# one C file; its main becomes FACE_main.
BEGIN { printf "int %s_main(int argc, char **argv);\n", face }
$0 == ".\\\" " face { marked = 1; next }
marked && /^\.Bd/ { inside = 1; marked = 0; printf "#line %d \"coscrawl-flow.7\"\n", NR + 1; next }
inside && /^\.Ed/ { inside = 0; print ""; next }
inside {
	gsub(/\\e/, "\\")
	gsub(/\\-/, "-")
	gsub(/\\&/, "")
	sub(/^int main\(/, "int " face "_main(")
	print
}
