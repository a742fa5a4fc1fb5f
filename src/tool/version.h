/* version.h - what this program is made of. */
#ifndef COS_TOOL_VERSION_H
#define COS_TOOL_VERSION_H

/* --version on stdout: the program, its libraries as they are loaded now, and
 * what they can do. */
void tool_version(void);

#endif
