# man/local.mk - the manual pages.
dist_man_MANS += man/coscrawl.1
dist_man_MANS += man/coscrawl-dill.7
dist_man_MANS += man/coscrawl-bench.1
dist_man_MANS += man/coscrawl-flow.7
dist_man_MANS += man/coscrawl-tutorial.7

# Section 3 is made from the public headers: three pages that show them whole,
# and one for each group of functions, to which the functions' names lead.
man3_engine = src/coscrawl.h $(cosbaseinc_HEADERS) $(coswebinc_HEADERS) $(cosstoreinc_HEADERS) $(coscrawlinc_HEADERS)
man3_flow = src/flow/flow.h src/flow/queue.h src/flow/future.h src/flow/cache.h src/flow/gate.h src/flow/once.h
man3_cps = compat/coscrawl-cps.h $(coscpsinc_HEADERS)
man3_make = $(MKDIR_P) man/functions && cd $(srcdir) && $(AWK) -v date='November 18, 2026' -f man/section3.awk
nodist_man_MANS = man/cos_flow.3 man/coscrawl-cps.3 man/coscrawl.3
man/coscrawl.3: $(man3_engine) man/section3.awk
	$(AM_V_GEN)$(man3_make) -v page=coscrawl -v about='crawl engine in blocking style' \
		$(man3_engine) >$(abs_builddir)/$@
man/cos_flow.3: $(man3_flow) man/section3.awk
	$(AM_V_GEN)$(man3_make) -v page=cos_flow -v about='control flow over any job' $(man3_flow) >$(abs_builddir)/$@
man/coscrawl-cps.3: $(man3_cps) man/section3.awk
	$(AM_V_GEN)$(man3_make) -v page=coscrawl-cps -v about='crawl engine with callbacks' \
		$(man3_cps) >$(abs_builddir)/$@
noinst_DATA = man/functions/list
man/functions/list: $(public_headers) man/section3.awk
	$(AM_V_GEN)rm -rf man/functions && $(man3_make) -v dir=$(abs_builddir)/man/functions \
		$(man3_engine) $(man3_flow) $(man3_cps) >$(abs_builddir)/$@
EXTRA_DIST += man/section3.awk
CLEANFILES += man/cos_flow.3 man/coscrawl-cps.3 man/coscrawl.3

install-man3-functions: man/functions/list
	@$(MKDIR_P) "$(DESTDIR)$(man3dir)"
	@while read -r name page; do \
		if test $$name = $$page; then $(INSTALL_DATA) man/functions/$$page.3 "$(DESTDIR)$(man3dir)/"; \
		else cd "$(DESTDIR)$(man3dir)" && rm -f $$name.3 && $(LN_S) $$page.3 $$name.3 && cd "$(abs_builddir)"; \
		fi || exit 1; \
	done <man/functions/list
uninstall-man3-functions: man/functions/list
	@while read -r name page; do rm -f "$(DESTDIR)$(man3dir)/$$name.3"; done <man/functions/list
clean-local: clean-man3-functions
clean-man3-functions:
	rm -rf man/functions
.PHONY: install-man3-functions uninstall-man3-functions clean-man3-functions
