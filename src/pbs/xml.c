// SPDX-License-Identifier: Apache-2.0
/* xml.c - see xml.h */
#include "pbs/xml.h"

#include <ctype.h>

static const char *const entities[128] = {
	['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&apos;", ['\n'] = "&#10;",
};

void xml_text(const char *s, struct sbuf *out)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 128 && entities[c])
			sbuf_adds(out, entities[c]);
		else if (c >= ' ' || c == '\t')
			sbuf_addc(out, *s);
	}
}

/* Names of resources are the user's: what no tag may have becomes an underscore. */
static void tag(const char *name, struct sbuf *out)
{
	if (!isalpha((unsigned char)*name))
		sbuf_addc(out, '_');
	for (; *name; name++)
		sbuf_addc(out, isalnum((unsigned char)*name) || strchr("_-.", *name) ? *name : '_');
}

void xml_element(const char *name, const char *value, struct sbuf *out)
{
	sbuf_addc(out, '<');
	tag(name, out);
	sbuf_addc(out, '>');
	xml_text(value, out);
	sbuf_adds(out, "</");
	tag(name, out);
	sbuf_addc(out, '>');
}
