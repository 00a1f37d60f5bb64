// SPDX-License-Identifier: Apache-2.0
/* xml.h - the little XML that qstat -x and pbsnodes -x write.  Pure */
#ifndef STOKER_PBS_XML_H
#define STOKER_PBS_XML_H

#include "base/str.h"

/* Text between tags: & < > " and ' are written as entities, control characters that XML has no form for are left
 * out. */
void xml_text(const char *s, struct sbuf *out);
/* <name>value</name> */
void xml_element(const char *name, const char *value, struct sbuf *out);

#endif
