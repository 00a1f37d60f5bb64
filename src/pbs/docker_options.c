// SPDX-License-Identifier: Apache-2.0
/* docker_options.c - see docker_options.h
 *
 * The containers of startdocker are pods with the rights of their user, so most of what could be asked for would be
 * refused later anyway.  Here it is refused in docker's words, before anything has happened; and what scripts of other
 * sites say out of habit (--privileged, --rm) does not keep them from running.
 */
#include "pbs/docker_options.h"

#include "base/mem.h"

#define SIZE_MOST (INT64_MAX >> 10)

enum act {
	ACT_FLAG,    /* sets a bool */
	ACT_TEXT,    /* the last one counts */
	ACT_TEXTS,   /* all count */
	ACT_NOTHING, /* is so anyway */
	ACT_WARN,    /* has no effect, which is said */
	ACT_REFUSE
};

#define AT(member) offsetof(struct docker_options, member)

static const struct row {
	const char *name;
	char letter;
	bool value;
	enum act act;
	size_t at;
	const char *why;
} rows[] = {
	{ "interactive", 'i', false, ACT_FLAG, AT(in) },
	{ "tty", 't', false, ACT_FLAG, AT(tty) },
	{ "volume", 'v', true, ACT_TEXTS, AT(volumes) },
	{ "workdir", 'w', true, ACT_TEXT, AT(workdir) },
	{ "env", 'e', true, ACT_TEXTS, AT(env) },
	{ "env-file", 0, true, ACT_TEXTS, AT(env_files) },
	{ "tmpfs", 0, true, ACT_TEXTS, AT(tmpfs) },
	{ "entrypoint", 0, true, ACT_TEXT, AT(entrypoint) },
	{ "hostname", 'h', true, ACT_TEXT, AT(hostname) },
	{ "shm-size", 0, true, ACT_TEXT, AT(shm_size) },
	{ "ipc", 0, true, ACT_TEXT, AT(ipc) },
	{ "network", 0, true, ACT_TEXT, AT(network) },
	{ "net", 0, true, ACT_TEXT, AT(network) },
	{ "read-only", 0, false, ACT_FLAG, AT(read_only) },
	{ "rm", 0, false, ACT_NOTHING },
	{ "init", 0, false, ACT_NOTHING },
	{ "name", 0, true, ACT_NOTHING },
	{ "gpus", 0, true, ACT_NOTHING },
	{ "runtime", 0, true, ACT_NOTHING },
	{ "attach", 'a', true, ACT_NOTHING },
	{ "sig-proxy", 0, false, ACT_NOTHING },
	{ "privileged", 0, false, ACT_WARN },
	{ "ulimit", 0, true, ACT_WARN },
	{ "detach", 'd', false, ACT_REFUSE, 0, "the container ends with startdocker" },
	{ "user", 'u', true, ACT_REFUSE, 0, "containers run as who calls startdocker" },
	{ "group-add", 0, true, ACT_REFUSE, 0, "containers run with the groups of who calls startdocker" },
	{ "cap-add", 0, true, ACT_REFUSE, 0, "containers have the rights of their user" },
	{ "security-opt", 0, true, ACT_REFUSE, 0, "containers have the rights of their user" },
	{ "device", 0, true, ACT_REFUSE, 0, "a container has the cards of its job and no other devices" },
	{ "pid", 0, true, ACT_REFUSE, 0, "containers do not see processes of others" },
	{ "uts", 0, true, ACT_REFUSE, 0, "containers have a name of their own" },
	{ "userns", 0, true, ACT_REFUSE, 0, "containers run as who calls startdocker" },
	{ "cgroup-parent", 0, true, ACT_REFUSE, 0, "containers belong to their job" },
	{ "mount", 0, true, ACT_REFUSE, 0, "use -v source:target[:ro]" },
	{ "publish", 'p', true, ACT_REFUSE, 0, "ports of this machine are not for containers" },
	{ "memory", 'm', true, ACT_REFUSE, 0, "the job says how much memory there is (qsub -l mem=)" },
	{ "restart", 0, true, ACT_REFUSE, 0, "the container ends with startdocker" },
};

static const struct row *find_name(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_eq(name, rows[i].name))
			return &rows[i];
	return NULL;
}

static const struct row *find_letter(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (letter && rows[i].letter == letter)
			return &rows[i];
	return NULL;
}

static void add(struct docker_texts *t, const char *text)
{
	if (t->n == t->room) {
		t->room = t->room ? t->room * 2 : 8;
		t->items = xreallocarray(t->items, t->room, sizeof(*t->items));
	}
	t->items[t->n++] = text;
}

static int refuse(const char *word, const char *why, struct err *e)
{
	return err_set(e, ERR_INVALID, "-u: %s is not allowed: %s", word, why);
}

/* `value` is NULL for a flag. */
static int take(struct docker_options *o, const struct row *row, const char *word, const char *value, struct err *e)
{
	char *at = (char *)o + row->at;

	switch (row->act) {
	case ACT_FLAG:
		*(bool *)at = true;
		break;
	case ACT_TEXT:
		*(const char **)at = value;
		break;
	case ACT_TEXTS:
		add((struct docker_texts *)at, value);
		break;
	case ACT_WARN:
		add(&o->ignored, word);
		break;
	case ACT_REFUSE:
		return refuse(word, row->why, e);
	case ACT_NOTHING:
		break;
	}
	return 0;
}

/* The option's value: behind its '=', or the next word. */
static int value_of(struct docker_options *o, const char *word, const char *behind, size_t *i, const char **ret,
		    struct err *e)
{
	if (behind) {
		*ret = behind;
		return 0;
	}
	if (*i + 1 >= o->words.n)
		return err_set(e, ERR_INVALID, "-u: flag needs an argument: %s", word);
	*ret = o->words.items[++*i];
	return 0;
}

static bool is_false(const char *text)
{
	return streq(text, "false") || streq(text, "0");
}

static int take_long(struct docker_options *o, size_t *i, struct err *e)
{
	const char *word = o->words.items[*i];
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : strlen(word);
	const struct row *row = find_name((struct str){ word + 2, n - 2 });
	const char *value = NULL;

	if (!row)
		return err_set(e, ERR_INVALID, "-u: %s is not an option that startdocker allows", word);
	if (!row->value)
		return equals && is_false(equals + 1) ? 0 : take(o, row, word, NULL, e);
	if (row->act != ACT_REFUSE && value_of(o, word, equals ? equals + 1 : NULL, i, &value, e) < 0)
		return -1;
	return take(o, row, word, value, e);
}

/* -it, -w DIR, -w=DIR, -wDIR. */
static int take_short(struct docker_options *o, size_t *i, struct err *e)
{
	const char *word = o->words.items[*i];

	for (const char *p = word + 1; *p; p++) {
		const struct row *row = find_letter(*p);
		const char *value = NULL, *behind = p[1] == '=' ? p + 2 : p[1] ? p + 1 : NULL;

		if (!row)
			return err_set(e, ERR_INVALID, "-u: -%c (in %s) is not an option that startdocker allows", *p,
				       word);
		if (row->act == ACT_REFUSE)
			return take(o, row, word, NULL, e);
		if (row->value) {
			if (value_of(o, word, behind, i, &value, e) < 0)
				return -1;
			return take(o, row, word, value, e);
		}
		if (take(o, row, word, NULL, e) < 0)
			return -1;
		if (p[1] == '=')
			return 0;
	}
	return 0;
}

static int check_choices(const struct docker_options *o, struct err *e)
{
	static const char *const ipcs[] = { "host", "private", "shareable", "none", "" };
	static const char *const networks[] = { "bridge", "default", "host", "none" };
	bool known = !o->ipc;
	int64_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(ipcs); i++)
		known |= o->ipc && streq(o->ipc, ipcs[i]);
	if (!known)
		return err_set(e, ERR_INVALID, "-u: --ipc=%s is not allowed: only host, private and none", o->ipc);
	known = !o->network;
	for (size_t i = 0; i < ARRAY_SIZE(networks); i++)
		known |= o->network && streq(o->network, networks[i]);
	if (!known)
		return err_set(e, ERR_INVALID, "-u: --network=%s is not allowed: only bridge, host and none",
			       o->network);
	if (o->shm_size && !docker_size_parse(o->shm_size, &bytes))
		return err_set(e, ERR_INVALID, "-u: --shm-size: \"%s\" is not a size such as 64m or 8G", o->shm_size);
	if (o->workdir && o->workdir[0] != '/')
		return err_set(e, ERR_INVALID, "-u: -w: the working directory '%s' is invalid: it must begin with /",
			       o->workdir);
	return 0;
}

int docker_options_parse(struct str text, struct docker_options *ret, struct err *e)
{
	if (memchr(text.p, '\0', text.n))
		return err_set(e, ERR_INVALID, "-u: a NUL in the text");
	if (words_split(text, false, &ret->words, e) < 0)
		return err_prefix(e, "-u");
	for (size_t i = 0; i < ret->words.n; i++) {
		const char *word = ret->words.items[i];
		int r;

		if (word[0] != '-' || !word[1])
			return err_set(e, ERR_INVALID, "-u: \"%s\" is not an option", word);
		r = word[1] == '-' ? take_long(ret, &i, e) : take_short(ret, &i, e);
		if (r < 0)
			return -1;
	}
	return check_choices(ret, e);
}

void docker_options_done(struct docker_options *o)
{
	free(o->volumes.items);
	free(o->env.items);
	free(o->env_files.items);
	free(o->tmpfs.items);
	free(o->ignored.items);
	words_done(&o->words);
	*o = (struct docker_options){ 0 };
}

/* ---- values ---- */

/* Ends in one '/' less, and has no empty parts at its end; false if it leads elsewhere than it says. */
static bool tidy(char *path)
{
	size_t n = strlen(path);
	struct str rest, part;

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	rest = str_of(path);
	while (str_split(&rest, '/', &part))
		if (str_eq(part, ".."))
			return false;
	return path[0] == '/';
}

int docker_volume_parse(const char *text, struct docker_volume *ret, struct err *e)
{
	struct str rest = str_of(text), source, target, mode = { 0 };
	struct docker_volume v = { 0 };

	if (!str_split(&rest, ':', &source) || !str_split(&rest, ':', &target) || !source.n || !target.n)
		return err_set(e, ERR_INVALID, "-v %s: a mount is source:target[:ro]", text);
	while (rest.n && str_split(&rest, ',', &mode)) {
		if (str_eq(mode, "ro"))
			v.read_only = true;
		else if (!str_eq(mode, "rw") && !str_eq(mode, "z") && !str_eq(mode, "Z"))
			return err_set(e, ERR_INVALID, "-v %s: invalid mode: %.*s", text, STR_FMT(mode));
	}
	v.source = xstrndup(source.p, source.n);
	v.target = xstrndup(target.p, target.n);
	if (!tidy(v.source) || !tidy(v.target)) {
		docker_volume_done(&v);
		return err_set(e, ERR_INVALID, "-v %s: both paths must begin with / and have no ..", text);
	}
	*ret = v;
	return 0;
}

void docker_volume_done(struct docker_volume *v)
{
	free(v->source);
	free(v->target);
	*v = (struct docker_volume){ 0 };
}

bool docker_size_parse(const char *text, int64_t *ret)
{
	static const char units[] = "bkmgt";
	size_t digits = strspn(text, "0123456789");
	auto_free char *number = xstrndup(text, digits);
	const char *unit = text + digits;
	int64_t n;
	int steps = 0;

	if (!str_int64(number, 1, SIZE_MOST, &n))
		return false;
	if (*unit) {
		const char *at = strchr(units, *unit | 0x20);

		if (!at)
			return false;
		steps = (int)(at - units);
		if (unit[1] && !((unit[1] | 0x20) == 'b' && !unit[2] && steps))
			return false;
	}
	for (; steps; steps--) {
		if (n > SIZE_MOST)
			return false;
		n <<= 10;
	}
	*ret = n;
	return true;
}
