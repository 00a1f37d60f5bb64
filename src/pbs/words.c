// SPDX-License-Identifier: Apache-2.0
/* words.c - a line of text cut into words as PBS cuts a directive
 *
 * Torque parses the words of a comment behind a directive too, so that an apostrophe or a -x there breaks the job.
 * Stopping at the # loses nothing that could have been meant.
 */
#include "pbs/words.h"

#include "base/mem.h"

void words_done(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->items[i]);
	free(w->items);
	*w = (struct words){ 0 };
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* One word from *at on, unquoted. */
static int word_read(struct str line, size_t *at, struct sbuf *out, struct err *e)
{
	size_t i = *at;

	for (; i < line.n && !is_blank(line.p[i]); i++) {
		char c = line.p[i];

		if (c == '\'' || c == '"') {
			const char *end = memchr(line.p + i + 1, c, line.n - i - 1);

			if (!end)
				return err_set(e, ERR_INVALID, "unmatched %c in \"%.*s\"", c, STR_FMT(line));
			sbuf_add(out, line.p + i + 1, (size_t)(end - line.p) - i - 1);
			i = (size_t)(end - line.p);
		} else if (c == '\\' && i + 1 < line.n) {
			sbuf_addc(out, line.p[++i]);
		} else {
			sbuf_addc(out, c);
		}
	}
	*at = i;
	return 0;
}

int words_split(struct str line, bool comments, struct words *ret, struct err *e)
{
	struct words w = { 0 };
	size_t at = 0;

	for (;;) {
		auto_sbuf struct sbuf word = SBUF(line.n);

		while (at < line.n && is_blank(line.p[at]))
			at++;
		if (at == line.n || (comments && at && line.p[at] == '#'))
			break;
		if (word_read(line, &at, &word, e) < 0) {
			words_done(&w);
			return -1;
		}
		ARRAY_PUSH(w.items, w.n, w.room, sbuf_steal(&word));
	}
	ARRAY_PUSH(w.items, w.n, w.room, NULL);
	w.n--;
	*ret = w;
	return 0;
}
