// dill_cxx.t.cc - the header in C++: no short names, and go works.
#include <libdill.h>
#include <libdillimpl.h>

#include <cstdio>
#include <cstring>

// Would not compile if these were macros.
static int now, yield, go, bundle, choose, hmake;

static dill_coroutine void worker(int ch, const char *text, long n)
{
    char c = text[n];
    dill_yield();
    dill_chsend(ch, &c, 1, -1);
}

int main()
{
    int ch[2], bad = 0;
    char c = 0;
    now = yield = go = bundle = choose = hmake = 0;
    bad += dill_chmake(ch) != 0;
    int h = dill_go(worker(ch[0], "hello", 1));
    bad += h < 0 || dill_chrecv(ch[1], &c, 1, dill_now() + 5000) != 0 || c != 'e';
    int b = dill_bundle();
    bad += dill_bundle_go(b, worker(ch[0], "hello", 4)) != 0;
    bad += dill_chrecv(ch[1], &c, 1, -1) != 0 || c != 'o';
    dill_hclose(h);
    dill_hclose(b);
    dill_hclose(ch[0]);
    dill_hclose(ch[1]);
    std::printf("%s 1 - the header compiles as C++, and coroutines run\n1..1\n",
                bad ? "not ok" : "ok");
    return bad != 0;
}
