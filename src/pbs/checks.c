// SPDX-License-Identifier: Apache-2.0
/* checks.c - whether an option's value is one */
#include "pbs/checks.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kinds/pbs_array.h"
#include "pbs/when.h"

enum { NAME_MOST = 236, PRIORITY_LOWEST = -1024, PRIORITY_HIGHEST = 1023, QUEUE_MOST = 63 };

bool check_text(const char *value)
{
	return value[0] != 0;
}

bool check_time(const char *value)
{
	int64_t seconds;

	return pbs_when_parse(value, clock_wall(), &seconds);
}

static bool positive(const char *value)
{
	int64_t n;

	return str_int64(value, 1, INT32_MAX, &n);
}

bool check_positive(const char *value)
{
	return positive(value);
}

bool check_retry(const char *value)
{
	return streq(value, "0") || positive(value);
}

bool check_checkpoint(const char *value)
{
	static const char *const words[] = { "n", "s", "c", "u", "none", "shutdown", "periodic", "enabled" };
	struct str rest = str_of(value), part;
	bool ok = true;

	while (ok && str_split(&rest, ',', &part)) {
		auto_free char *word = xstrndup(part.p, part.n);

		ok = (str_starts(word, "c=") && positive(word + 2)) ||
		     (str_starts(word, "interval=") && positive(word + 9)) ||
		     (str_starts(word, "depth=") && positive(word + 6)) || (str_starts(word, "dir=") && word[4]);
		for (size_t i = 0; !ok && i < ARRAY_SIZE(words); i++)
			ok = streq(word, words[i]);
	}
	return ok;
}

bool check_directory(const char *value)
{
	struct stat st;

	return stat(value, &st) == 0 && S_ISDIR(st.st_mode);
}

bool check_path(const char *value)
{
	for (const char *c = value; *c; c++)
		if (iscntrl((unsigned char)*c))
			return false;
	return str_trim(str_of(value)).n && str_is_utf8(value, strlen(value));
}

/* Letters of a set, none twice, at least one of `need`. */
static bool letters_of(const char *value, const char *set, const char *need)
{
	for (const char *c = value; *c; c++)
		if (!strchr(set, *c) || strchr(c + 1, *c))
			return false;
	return strpbrk(value, need) != NULL;
}

bool check_join(const char *value)
{
	return streq(value, "oe") || streq(value, "eo") || streq(value, "n");
}

bool check_keep(const char *value)
{
	return streq(value, "n") || letters_of(value, "oed", "oe");
}

bool check_remove(const char *value)
{
	return letters_of(value, "oe", "oe");
}

bool check_mail_points(const char *value)
{
	if (streq(value, "n") || streq(value, "p"))
		return true;
	for (const char *c = value; *c; c++)
		if (!strchr("abefj", *c))
			return false;
	return value[0] != 0;
}

/* Bytes above ASCII are letters of other languages. */
static bool name_char(char c, bool first)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr("_.+-", c)) ||
	       (!first && c && strchr(",=:@%~^", c));
}

bool check_name(const char *value)
{
	size_t n = strlen(value);

	if (!n || n > NAME_MOST || !str_is_utf8(value, n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!name_char(value[i], i == 0))
			return false;
	return true;
}

void name_from_path(const char *path, struct sbuf *out)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n = strlen(name);

	if (n > NAME_MOST)
		n = NAME_MOST;
	while (n && n < strlen(name) && ((unsigned char)name[n] & 0xc0) == 0x80) /* not in the middle of a character */
		n--;
	if (!n || !str_is_utf8(name, n)) {
		sbuf_adds(out, "STDIN");
		return;
	}
	for (size_t i = 0; i < n; i++)
		sbuf_addc(out, name_char(name[i], i == 0) ? name[i] : '_');
}

bool check_priority(const char *value)
{
	const char *digits = value + strspn(value, " \t");
	int64_t n;

	if (*digits == '+' && isdigit((unsigned char)digits[1]))
		digits++;
	return str_int64(digits, PRIORITY_LOWEST, PRIORITY_HIGHEST, &n);
}

bool check_yes_no(const char *value)
{
	return streq(value, "y") || streq(value, "n");
}

/* NAME[@HOST],...; at most one without a host, if asked so. */
static bool names_at(const char *value, bool absolute, bool single)
{
	struct str rest = str_of(value), part;
	int bare = 0;

	while (str_split(&rest, ',', &part)) {
		const char *at = memchr(part.p, '@', part.n);

		if (!part.n || at == part.p || at == part.p + part.n - 1 || (absolute && part.p[0] != '/'))
			return false;
		bare += !at;
	}
	return !single || bare <= 1;
}

bool check_shells(const char *value)
{
	return names_at(value, true, true);
}

bool check_users(const char *value)
{
	return names_at(value, false, false);
}

/* X-Y[:Z][%N], OpenPBS's arrays. */
bool check_steps(const char *value)
{
	struct err e = ERR_INIT;
	struct pbs_set set;
	int slots;

	if (strchr(value, ',') || !strchr(value, '-') || pbs_array_parse(value, &set, &slots, &e) < 0)
		return false;
	pbs_set_done(&set);
	return true;
}

bool destination_queue(const char *text, struct sbuf *queue)
{
	size_t n = strcspn(text, "@");
	const char *server = text + n + (text[n] == '@');

	if (!text[0] || n > QUEUE_MOST || (text[n] == '@' && !server[0]) || strpbrk(text, " \t\n#,") ||
	    strchr(server, '@'))
		return false;
	if (n && !isalnum((unsigned char)text[0]) && text[0] != '_')
		return false;
	sbuf_add(queue, text, n);
	return true;
}

bool umask_parse(const char *text, unsigned *ret)
{
	enum { ALL = 0777 };
	const char *digits = text + (text[0] == '0' && text[1] ? 1 : 0);
	size_t n = strlen(digits);
	bool octal = digits != text || (n >= 3 && strspn(digits, "01234567") == n);
	unsigned long v;
	char *end;

	if (!n || n > 3 || strspn(digits, "0123456789") != n)
		return false;
	v = strtoul(digits, &end, octal ? 8 : 10);
	if (*end || v > ALL)
		return false;
	*ret = (unsigned)v;
	return true;
}

bool check_holds(const char *value)
{
	return streq(value, "n") || (*value && !value[strspn(value, "uosp")]);
}
