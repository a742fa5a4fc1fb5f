# src/dill/local.mk - our runtime; left out when the system has a libdill.
dill_sources = src/dill/bundle.c src/dill/chan.c src/dill/cr.c src/dill/ctx.c src/dill/ctx.h \
	src/dill/handle.c src/dill/hot.h src/dill/libdill.h src/dill/libdillimpl.h src/dill/pollset.c src/dill/port.h \
	src/dill/san.h src/dill/stack.c src/dill/timer.c
if BUNDLED_DILL
libcos_la_SOURCES += $(dill_sources)
else
EXTRA_DIST += $(dill_sources)
endif
