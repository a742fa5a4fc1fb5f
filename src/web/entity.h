/* entity.h - HTML character references after the WHATWG standard. */
#ifndef COS_WEB_ENTITY_H
#define COS_WEB_ENTITY_H

#include <stddef.h>

enum { COS_ENTITY_OUT = 8 };

/* Decodes the reference that starts at in[0] == '&'. Returns how many bytes of
 * in it takes and puts 1 to COS_ENTITY_OUT bytes of UTF-8 into out; or 0: the
 * '&' stands for itself. in_attribute selects the stricter rule for "&copy=1". */
size_t cos_entity_decode(const char *in, size_t len, int in_attribute, char out[COS_ENTITY_OUT],
                         size_t *out_len);
/* UTF-8 of a code point below 0x110000; 1 to 4 bytes. */
size_t cos_entity_utf8(unsigned long cp, char *out);

#endif
