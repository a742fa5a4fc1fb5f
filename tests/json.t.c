/* json.t - the writer: shape, escapes, numbers, misuse, the ceiling. */
#include "tap.h"

#include "base/err.h"
#include "base/json.h"
#include "base/utf8.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static struct cos_buf buf;
static struct cos_json json;

static struct cos_json *fresh(void)
{
    cos_buf_clear(&buf);
    cos_json_init(&json, &buf);
    return &json;
}

static void shape(void)
{
    struct cos_json *j = fresh();
    cos_json_object(j);
    cos_json_key(j, "a"), cos_json_int(j, INT64_MIN);
    cos_json_key(j, "b"), cos_json_array(j);
    cos_json_bool(j, 1), cos_json_null(j), cos_json_str(j, NULL);
    cos_json_object(j), cos_json_end(j);
    cos_json_array(j), cos_json_int(j, 1), cos_json_end(j);
    cos_json_int(j, 2), cos_json_end(j);
    cos_json_keyn(j, "c\0d", 3), cos_json_str(j, "");
    cos_json_end(j);
    cmp_ok(cos_json_done(j), "==", 0, "a whole value");
    is(buf.data, "{\"a\":-9223372036854775808,\"b\":[true,null,null,{},[1],2],\"c\\u0000d\":\"\"}",
       "commas and nesting");
    fresh();
    for (int i = 0; i < 2; i++)
        cos_json_int(j, i), cos_json_newline(j);
    is(buf.data, "0\n1\n", "JSON lines");
    cmp_ok(cos_json_done(j), "==", 0, "end well");
}

static void quoted(const char *in, size_t len, const char *want, const char *what)
{
    cos_buf_clear(&buf);
    cos_json_quote(&buf, in, len);
    is(buf.data, want, "%s", what);
}

static void strings(void)
{
    quoted("a\"b\\c/\b\f\n\r\t", 11, "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\"", "short escapes");
    quoted("\x01\x1b[2J\x7f", 6, "\"\\u0001\\u001b[2J\\u007f\"",
           "controls cannot reach a terminal");
    quoted("\xc2\x9b", 2, "\"\\u009b\"", "nor can those above 127");
    quoted("\xe2\x80\xa8\xe2\x80\xae", 6, "\"\\u2028\\u202e\"",
           "line separator and direction marks");
    quoted("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
           "UTF-8 of two, three and four bytes stays");
#define BAD "\xef\xbf\xbd"
    quoted("\xff\xfe", 2, "\"" BAD BAD "\"", "bytes that never occur");
    quoted("\xc0\xaf", 2, "\"" BAD BAD "\"", "overlong");
    quoted("\xe0\x80\xaf", 3, "\"" BAD BAD BAD "\"", "overlong of three");
    quoted("\xed\xa0\x80", 3, "\"" BAD BAD BAD "\"", "a surrogate");
    quoted("\xf4\x90\x80\x80", 4, "\"" BAD BAD BAD BAD "\"", "above U+10FFFF");
    quoted("\xe2\x82", 2, "\"" BAD "\"", "cut off at the end");
    quoted("\xe2\x82z", 3, "\"" BAD "z\"", "cut off in the middle eats no good byte");
}

static void number(double d, const char *want)
{
    struct cos_json *j = fresh();
    cos_json_double(j, d);
    if (want)
        is(buf.data, want, "%s", want);
    else
        ok(strtod(buf.data, NULL) == d, "%s reads back as the same number", buf.data);
}

static void misuse(void)
{
    struct cos_json *j = fresh();
    cos_json_object(j), cos_json_int(j, 1);
    cmp_ok(cos_json_done(j), "==", COS_ESTATE, "a value without a key");
    fresh(), cos_json_array(j), cos_json_key(j, "k");
    cmp_ok(cos_json_done(j), "==", COS_ESTATE, "a key in an array");
    fresh(), cos_json_object(j), cos_json_key(j, "k"), cos_json_end(j);
    cmp_ok(cos_json_done(j), "==", COS_ESTATE, "a key without a value");
    fresh(), cos_json_end(j);
    cmp_ok(cos_json_done(j), "==", COS_ESTATE, "an end too many");
    fresh(), cos_json_int(j, 1), cos_json_int(j, 2);
    cmp_ok(cos_json_done(j), "==", COS_ESTATE, "two values at the top");
    fresh(), cos_json_array(j);
    cmp_ok(cos_json_done(j), "==", COS_ESTATE, "an end too few");
    fresh();
    for (int i = 0; i < COS_JSON_DEPTH; i++)
        cos_json_array(j);
    cmp_ok(j->err, "==", 0, "64 levels");
    cos_json_array(j);
    cmp_ok(j->err, "==", COS_ETOOBIG, "and no more");
}

static void ceiling(void)
{
    struct cos_buf small;
    struct cos_json j;
    cos_buf_init(&small, 8);
    cos_json_init(&j, &small);
    cos_json_array(&j);
    cos_json_str(&j, "far too long");
    cos_json_int(&j, 1);
    cos_json_end(&j);
    cmp_ok(cos_json_done(&j), "==", COS_ETOOBIG,
           "the buffer's ceiling is the first error and stays");
    cos_buf_release(&small);
}

int main(void)
{
    plan(NO_PLAN);
    cos_buf_init(&buf, 1 << 20);
    shape();
    strings();
    number(0.1, "0.1");
    number(-1.5e300, "-1.5e+300");
    number(3, "3");
    number(NAN, "null");
    number(-INFINITY, "null");
    number(1.0 / 3, NULL);
    number(DBL_MIN / 3, NULL);
    number(DBL_MAX, NULL);
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8"))
        number(0.5, "0.5");
    setlocale(LC_NUMERIC, "C");
    misuse();
    ceiling();
    cos_buf_release(&buf);
    done_testing();
}
