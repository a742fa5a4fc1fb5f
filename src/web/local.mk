# src/web/local.mk - the files of this room.
libcos_la_SOURCES += \
	src/web/fetch.c src/web/fetch.h src/web/fetch_int.h src/web/request.h \
	src/web/fetch_body.c \
	src/web/fetch_cookies.c src/web/fetch_cookies.h \
	src/web/fetch_easy.c \
	src/web/fetch_end.c \
	src/web/fetch_head.c \
	src/web/fetch_host.c src/web/fetch_host.h \
	src/web/fetch_name.c \
	src/web/fetch_phase.c \
	src/web/fetch_spill.c src/web/fetch_spill.h \
	src/web/fetch_told.c \
	src/web/fetch_wire.c \
	src/web/pump.c
libcos_la_SOURCES += \
	src/web/robots.c src/web/robots.h src/web/robots_int.h \
	src/web/robots_match.c \
	src/web/robots_tag.c \
	src/web/url.c src/web/url.h src/web/url_int.h \
	src/web/url_canon.c \
	src/web/url_host.c \
	src/web/url_idn.c \
	src/web/url_ip.c \
	src/web/url_query.c \
	src/web/url_text.c

# scan, charset, links
libcos_la_SOURCES += \
	src/web/charset.c src/web/charset.h src/web/charset_int.h \
	src/web/charset_encode.c \
	src/web/charset_jis.c \
	src/web/charset_labels.c \
	src/web/charset_multi.c \
	src/web/charset_sniff.c \
	src/web/charset_table.c \
	src/web/entity.c src/web/entity.h src/web/entity_table.h \
	src/web/links.c src/web/links.h \
	src/web/links_type.c \
	src/web/rewrite.c src/web/rewrite.h \
	src/web/rewrite_tag.c src/web/rewrite_tag.h \
	src/web/scan.h src/web/scan_int.h \
	src/web/scan_css.c \
	src/web/scan_emit.c \
	src/web/scan_html.c \
	src/web/scan_names.c \
	src/web/scan_value.c \
	src/web/seen.c src/web/seen.h
EXTRA_DIST += src/web/gen_entities.py
# sitemap, tidy, names
libcos_la_SOURCES += \
	src/web/names.c src/web/names.h src/web/names_int.h src/web/resolve.h \
	src/web/names_dns.c src/web/names_jobs.c src/web/names_sys.c \
	src/web/sitemap.c src/web/sitemap.h \
	src/web/tidied.h src/web/tidy.c src/web/tidy.h src/web/tidy_guard.c src/web/tidy_job.c \
	src/web/xml.c src/web/xml.h
libcos_la_SOURCES += \
	src/web/fetch_version.c \
	src/web/version.c src/web/version.h

# reading a page as an operation
libcos_la_SOURCES += src/web/read_op.c src/web/read_op.h
