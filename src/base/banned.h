// SPDX-License-Identifier: Apache-2.0
/* banned.h - calls that do not compile here
 *
 * Force-included by the build.  Each of these has a bounded or typed replacement in base/.
 */
#ifndef STOKER_BASE_BANNED_H
#define STOKER_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef strcpy
#define strcpy(a, b) use_sbuf_or_xstrdup_instead_of_strcpy
#undef strcat
#define strcat(a, b) use_sbuf_instead_of_strcat
#undef sprintf
#define sprintf(...) use_snprintf_or_sbuf_instead_of_sprintf
#undef vsprintf
#define vsprintf(...) use_vsnprintf_or_sbuf_instead_of_vsprintf
#undef strtok
#define strtok(a, b) use_str_split_instead_of_strtok
#undef atoi
#define atoi(a) use_str_int64_instead_of_atoi

#endif
