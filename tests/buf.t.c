/* buf.t - the bounded buffer: growth, the ceiling, and what a failure leaves. */
#include "tap.h"

#include "base/buf.h"
#include "base/err.h"

#include <string.h>

int main(void)
{
    struct cos_buf buf;
    size_t len;
    char *taken;
    plan(NO_PLAN);

    cos_buf_init(&buf, 10);
    cmp_ok(cos_buf_adds(&buf, "hello"), "==", 0, "add within the ceiling");
    cmp_ok(cos_buf_adds(&buf, "world"), "==", 0, "add up to the ceiling");
    cmp_ok(cos_buf_addc(&buf, '!'), "==", COS_ETOOBIG, "one byte past the ceiling is refused");
    is(buf.data, "helloworld", "a refused add leaves the buffer as it was");
    cmp_ok(cos_buf_addf(&buf, "%d", 1), "==", COS_ETOOBIG, "addf keeps to the ceiling too");
    cos_buf_clear(&buf);
    cmp_ok(cos_buf_addf(&buf, "%s-%d", "n", 42), "==", 0, "addf after clear");
    is(buf.data, "n-42", "addf formats");
    cmp_ok(cos_buf_reserve(&buf, (size_t)-1), "==", COS_ETOOBIG, "a huge reserve does not wrap");
    taken = cos_buf_take(&buf, &len);
    cmp_ok(len, "==", 4, "take gives the length");
    is(taken, "n-42", "take gives the bytes");
    ok(buf.data == NULL && buf.len == 0, "take leaves the buffer empty");
    free(taken);
    cos_buf_release(&buf);
    cmp_ok(cos_buf_adds(&buf, "x"), "==", 0, "release keeps the ceiling");
    cos_buf_release(&buf);

    struct cos_buf zero = {0};
    cos_buf_release(&zero);
    cmp_ok(cos_buf_addc(&zero, 'x'), "==", COS_ETOOBIG, "a zeroed buffer holds nothing");
    done_testing();
}
