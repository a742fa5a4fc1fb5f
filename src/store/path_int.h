/* path_int.h - what path.c and path_back.c share. */
#ifndef COS_STORE_PATH_INT_H
#define COS_STORE_PATH_INT_H

/* Whether c, the next character of a URL, is in the case that names write
 * without an escape: lower, but upper inside %XX. *hex_left starts at 0 and
 * carries how many more characters may belong to a %XX. */
int cos__path_usual_case(char c, int *hex_left);

#endif
