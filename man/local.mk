# man/local.mk - the manual pages.
dist_man_MANS += man/coscrawl.1
dist_man_MANS += man/coscrawl-dill.7
dist_man_MANS += man/coscrawl-bench.1
dist_man_MANS += man/coscrawl-flow.7
