# src/tool/local.mk - the program.
bin_PROGRAMS += coscrawl
coscrawl_LDADD = libcos.la
coscrawl_SOURCES = \
	src/tool/cmd_links.c \
	src/tool/main.c \
	src/tool/tool.h \
	src/tool/usage.c
