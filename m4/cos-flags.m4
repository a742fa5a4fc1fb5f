dnl cos-flags.m4 - the project's own configure macros.

dnl COS_TRY_CFLAG(FLAG): add FLAG to COS_CFLAGS when the compiler takes it.
AC_DEFUN([COS_TRY_CFLAG], [
	cos_save_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS -Werror $1"
	AC_MSG_CHECKING([whether $CC takes $1])
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
		[AC_MSG_RESULT([yes]); COS_CFLAGS="$COS_CFLAGS $1"], [AC_MSG_RESULT([no])])
	CFLAGS=$cos_save_CFLAGS
])

AC_DEFUN([COS_TRY_LDFLAG], [
	cos_save_LDFLAGS=$LDFLAGS
	LDFLAGS="$LDFLAGS $1"
	AC_MSG_CHECKING([whether the linker takes $1])
	AC_LINK_IFELSE([AC_LANG_PROGRAM()],
		[AC_MSG_RESULT([yes]); COS_LDFLAGS="$COS_LDFLAGS $1"], [AC_MSG_RESULT([no])])
	LDFLAGS=$cos_save_LDFLAGS
])

dnl FORTIFY warns without optimisation, and a user may have set it already.
AC_DEFUN([COS_TRY_FORTIFY], [
	AC_MSG_CHECKING([whether _FORTIFY_SOURCE can be set])
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([
#if !defined(__OPTIMIZE__) || defined(_FORTIFY_SOURCE)
#error not here
#endif
int x;])], [AC_MSG_RESULT([yes]); COS_CFLAGS="$COS_CFLAGS -D_FORTIFY_SOURCE=2"], [AC_MSG_RESULT([no])])
])

dnl COS_LIBDILL: pick the runtime. A link test for dill_bundle_wait decides: the
dnl version in libdill's pkg-config file is an ABI number and compares to nothing.
AC_DEFUN([COS_LIBDILL], [
	cos_libdill=no
	AS_CASE([$with_libdill], [auto|system], [
		cos_save_LIBS=$LIBS
		LIBS="-ldill $LIBS"
		AC_MSG_CHECKING([for a system libdill with dill_bundle_wait])
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[#define DILL_DISABLE_RAW_NAMES
#include <libdill.h>
]], [[return dill_bundle_wait(0, 0);]])],
			[cos_libdill=system; AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
		LIBS=$cos_save_LIBS
	], [bundled], [], [AC_MSG_ERROR([--with-libdill takes auto, system or bundled, not '$with_libdill'])])
	AS_IF([test $cos_libdill = no], [
		AS_IF([test "x$with_libdill" = xsystem],
			[AC_MSG_ERROR([--with-libdill=system: no libdill with dill_bundle_wait found. Install libdill 2.x, point CPPFLAGS/LDFLAGS at it, or use --with-libdill=bundled])])
		cos_libdill=bundled])
	AS_IF([test $cos_libdill = system],
		[DILL_LIBS="-ldill"; DILL_CPPFLAGS=""; AC_DEFINE([SYSTEM_LIBDILL], [1], [the runtime is the system's])],
		[DILL_LIBS=""; DILL_CPPFLAGS='-I$(top_srcdir)/src/dill'])
	dnl Programs call it themselves: go() and its kin are macros of its header.
	PC_REQUIRES="" PC_DILL=""
	AS_IF([test $cos_libdill = system],
		[AS_IF([$PKG_CONFIG --exists libdill], [PC_REQUIRES=libdill], [PC_DILL=-ldill])])
	AC_SUBST([PC_REQUIRES])
	AC_SUBST([PC_DILL])
	AC_SUBST([DILL_LIBS])
	AC_SUBST([DILL_CPPFLAGS])
	AM_CONDITIONAL([BUNDLED_DILL], [test $cos_libdill = bundled])
])

dnl COS_LIBTAP: a system libtap must have the calls our tests make.
AC_DEFUN([COS_LIBTAP], [
	cos_libtap=no
	AS_CASE([$with_libtap], [auto|system], [
		cos_save_LIBS=$LIBS
		LIBS="-ltap $LIBS"
		AC_MSG_CHECKING([for a system libtap])
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <tap.h>
]], [[plan(1); ok(1, "x"); cmp_mem("a", "a", 1, "m"); return exit_status();]])],
			[cos_libtap=system; AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no])])
		LIBS=$cos_save_LIBS
	], [bundled], [], [AC_MSG_ERROR([--with-libtap takes auto, system or bundled, not '$with_libtap'])])
	AS_IF([test $cos_libtap = no], [
		AS_IF([test "x$with_libtap" = xsystem],
			[AC_MSG_ERROR([--with-libtap=system: no libtap found. Use --with-libtap=bundled])])
		cos_libtap=bundled])
	AM_CONDITIONAL([BUNDLED_TAP], [test $cos_libtap = bundled])
])

dnl COS_BLOCKS: closures in C, which clang has and gcc has not; they need a
dnl runtime library. Without them a build by clang has no style "hell" in
dnl callbacks.
AC_DEFUN([COS_BLOCKS], [
	BLOCKS_CFLAGS="" BLOCKS_LIBS="" cos_blocks=no
	AS_CASE([$CC], [*clang*], [
		cos_save_CFLAGS=$CFLAGS cos_save_LIBS=$LIBS
		CFLAGS="$CFLAGS -fblocks"
		LIBS="-lBlocksRuntime $LIBS"
		AC_MSG_CHECKING([for Blocks])
		AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <Block.h>
]], [[int n = 1; int (^f)(void) = Block_copy(^{ return n; }); return f();]])],
			[cos_blocks=yes BLOCKS_CFLAGS=-fblocks BLOCKS_LIBS=-lBlocksRuntime])
		AC_MSG_RESULT([$cos_blocks])
		CFLAGS=$cos_save_CFLAGS LIBS=$cos_save_LIBS
	])
	AC_SUBST([BLOCKS_CFLAGS])
	AC_SUBST([BLOCKS_LIBS])
])
