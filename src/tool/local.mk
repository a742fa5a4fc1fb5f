# src/tool/local.mk - the program.
bin_PROGRAMS += coscrawl
AM_CPPFLAGS += -DCOS_SYSCONFDIR='"$(sysconfdir)"'
coscrawl_LDADD = libbench.la libspider.la libcos.la
# What the program and the tests of the command line share.
tool_option_sources = \
	src/tool/option_foreign.c \
	src/tool/option_near.c \
	src/tool/option_set.c \
	src/tool/option_special.c \
	src/tool/option_table.c \
	src/tool/options.c src/tool/options.h \
	src/tool/tool.h \
	src/tool/usage.c \
	src/tool/values.c src/tool/values.h
tool_ui_sources = \
	src/tool/progress.c \
	src/tool/sink.c src/tool/sink.h \
	src/tool/summary.c \
	src/tool/text.c src/tool/text.h \
	src/tool/ui.c src/tool/ui.h
coscrawl_SOURCES = $(tool_option_sources) $(tool_ui_sources) \
	src/tool/config_file.c src/tool/config_file.h \
	src/tool/cmd_bench.c \
	src/tool/cmd_crawl.c \
	src/tool/cmd_links.c \
	src/tool/cmd_path.c \
	src/tool/cmd_resolve.c \
	src/tool/cmd_robots.c \
	src/tool/cmd_site.c \
	src/tool/cmd_style.c \
	src/tool/cmd_tidy.c \
	src/tool/cmd_why.c \
	src/tool/descriptors.c src/tool/descriptors.h \
	src/tool/help.c \
	src/tool/main.c \
	src/tool/output.c src/tool/output.h src/tool/output_int.h \
	src/tool/output_csv.c \
	src/tool/output_dot.c \
	src/tool/lag.c src/tool/lag.h \
	src/tool/metrics.c src/tool/metrics.h \
	src/tool/phases.c src/tool/phases.h \
	src/tool/seeds.c src/tool/seeds.h \
	src/tool/signals.c src/tool/signals.h \
	src/tool/trace.c src/tool/trace.h \
	src/tool/watch.c src/tool/watch.h \
	src/tool/version.c src/tool/version.h
bashcompdir = $(datadir)/bash-completion/completions
dist_bashcomp_DATA = completions/coscrawl
