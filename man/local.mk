# man/local.mk - the manual pages.
dist_man_MANS += man/coscrawl.1
