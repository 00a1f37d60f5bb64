// SPDX-License-Identifier: Apache-2.0
/* image_name.c - "busybox" is "docker.io/library/busybox:latest"
 *
 *	[domain/] part {/part} [:tag] [@sha256:...]
 *
 * The first part is a domain if it could not be anything else: it has a dot, a colon or an upper-case letter, or is
 * "localhost".  A name with a digest needs no tag, and loses it, so that one image has one normal name.  Two kinds of
 * names are not looked up in registries: "host", and ids, which images_find() knows.
 */
#include "node/image_name.h"

#include <ctype.h>
#include <fnmatch.h>

#include "base/mem.h"
#include "node/image.h"

#define NAME_MAX_LEN 255 /* of domain and path together, as registries have it */
#define TEXT_MAX_LEN 4096
#define TAG_MAX_LEN  128
#define HUB          "docker.io"

static bool is_lower_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
	return is_lower_digit(c) || (c >= 'A' && c <= 'Z');
}

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
			return false;
	return s.n > 0;
}

static const char *find(struct str s, char c)
{
	return s.n ? memchr(s.p, c, s.n) : NULL;
}

/* How long a separator within a part is: ".", "_", "__" or any number of dashes; 0 if there is none. */
static size_t separator(struct str s, size_t at)
{
	size_t n = 0;

	if (s.p[at] == '.')
		return 1;
	if (s.p[at] == '_')
		return at + 1 < s.n && s.p[at + 1] == '_' ? 2 : 1;
	while (at + n < s.n && s.p[at + n] == '-')
		n++;
	return n;
}

static bool part_valid(struct str s)
{
	size_t i = 0;

	if (!s.n || !is_lower_digit(s.p[0]))
		return false;
	while (i < s.n) {
		size_t n;

		if (is_lower_digit(s.p[i])) {
			i++;
			continue;
		}
		n = separator(s, i);
		i += n;
		if (!n || i >= s.n || !is_lower_digit(s.p[i]))
			return false;
	}
	return true;
}

static bool path_valid(struct str path)
{
	struct str part;

	while (str_split(&path, '/', &part))
		if (!part_valid(part))
			return false;
	return true;
}

static bool label_valid(struct str s)
{
	if (!s.n || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_alnum(s.p[i]) && s.p[i] != '-')
			return false;
	return true;
}

static bool port_valid(struct str s)
{
	if (!s.n || s.n > 5)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	return true;
}

static bool ipv6_valid(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isxdigit((unsigned char)s.p[i]) && s.p[i] != ':')
			return false;
	return s.n > 1;
}

static bool domain_valid(struct str s)
{
	struct str label;
	const char *end;

	if (s.n && s.p[0] == '[') {
		end = find(s, ']');
		if (!end || !ipv6_valid((struct str){ s.p + 1, (size_t)(end - s.p) - 1 }))
			return false;
		s = (struct str){ end + 1, s.n - (size_t)(end + 1 - s.p) };
		return !s.n || (s.p[0] == ':' && port_valid((struct str){ s.p + 1, s.n - 1 }));
	}
	end = find(s, ':');
	if (end) {
		if (!port_valid((struct str){ end + 1, s.n - (size_t)(end + 1 - s.p) }))
			return false;
		s.n = (size_t)(end - s.p);
	}
	while (str_split(&s, '.', &label))
		if (!label_valid(label))
			return false;
	return true;
}

static bool tag_valid(struct str s)
{
	if (!s.n || s.n > TAG_MAX_LEN || s.p[0] == '.' || s.p[0] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_alnum(s.p[i]) && s.p[i] != '_' && s.p[i] != '.' && s.p[i] != '-')
			return false;
	return true;
}

static bool digest_valid(struct str s)
{
	static const struct {
		const char *name;
		size_t hex;
	} algorithms[] = { { "sha256:", 64 }, { "sha384:", 96 }, { "sha512:", 128 } };

	for (size_t i = 0; i < ARRAY_SIZE(algorithms); i++) {
		size_t n = strlen(algorithms[i].name);

		if (s.n == n + algorithms[i].hex && memcmp(s.p, algorithms[i].name, n) == 0)
			return is_hex((struct str){ s.p + n, s.n - n });
	}
	return false;
}

bool image_digest_valid(const char *text)
{
	return str_starts(text, "sha256:") && digest_valid(str_of(text));
}

static bool looks_like_domain(struct str s)
{
	if (str_eq(s, "localhost") || find(s, '.') || find(s, ':'))
		return true;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= 'A' && s.p[i] <= 'Z')
			return true;
	return false;
}

static int refuse(struct err *e, const char *text, const char *why)
{
	return err_set(e, ERR_INVALID, "couldn't parse image name \"%.*s\": invalid reference format%s%s", 300, text,
		       *why ? ": " : "", why);
}

/* Cuts "@digest" and ":tag" off the end of *s. */
static const char *cut_tail(struct str *s, struct image_name *n)
{
	const char *at = find(*s, '@');
	const char *slash, *colon;

	if (at) {
		n->digest = (struct str){ at + 1, s->n - (size_t)(at + 1 - s->p) };
		s->n = (size_t)(at - s->p);
		if (!digest_valid(n->digest))
			return "invalid digest";
	}
	slash = memrchr(s->p, '/', s->n);
	colon = memrchr(s->p, ':', s->n);
	if (colon && (!slash || colon > slash)) {
		n->tag = (struct str){ colon + 1, s->n - (size_t)(colon + 1 - s->p) };
		s->n = (size_t)(colon - s->p);
		if (!tag_valid(n->tag))
			return "invalid tag";
	}
	return NULL;
}

static bool has_upper(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= 'A' && s.p[i] <= 'Z')
			return true;
	return false;
}

/* Of the normal form, so that what is normal once stays so. */
static size_t repository_len(const struct image_name *n)
{
	if (n->domain.n)
		return n->domain.n + 1 + n->path.n;
	return strlen(find(n->path, '/') ? HUB "/" : HUB "/library/") + n->path.n;
}

int image_name_parse(const char *text, struct image_name *ret, struct err *e)
{
	struct image_name n = { 0 };
	struct str rest = str_of(text);
	const char *slash, *why;

	if (!rest.n)
		return refuse(e, text, "the name is empty");
	if (rest.n > TEXT_MAX_LEN)
		return refuse(e, text, "the name is too long");
	why = cut_tail(&rest, &n);
	if (why)
		return refuse(e, text, why);
	slash = find(rest, '/');
	if (slash && looks_like_domain((struct str){ rest.p, (size_t)(slash - rest.p) })) {
		n.domain = (struct str){ rest.p, (size_t)(slash - rest.p) };
		rest = (struct str){ slash + 1, rest.n - n.domain.n - 1 };
		if (!domain_valid(n.domain))
			return refuse(e, text, "invalid registry host");
		if (str_eq(n.domain, HUB) || str_eq(n.domain, "index.docker.io"))
			n.domain.n = 0;
	}
	n.path = rest;
	if (has_upper(rest))
		return refuse(e, text, "repository name must be lowercase");
	if (!path_valid(rest))
		return refuse(e, text, "");
	if (repository_len(&n) > NAME_MAX_LEN)
		return refuse(e, text, "repository name must not be more than 255 characters");
	if (!n.domain.n && rest.n == 64 && is_hex(rest))
		return refuse(e, text, "cannot specify 64-byte hexadecimal strings");
	*ret = n;
	return 0;
}

int image_normalize(const char *name, struct sbuf *out, struct err *e)
{
	struct image_name n;

	if (streq(name, IMAGE_HOST)) {
		sbuf_adds(out, IMAGE_HOST);
		return 0;
	}
	if (image_name_parse(name, &n, e) < 0)
		return -1;
	if (n.domain.n)
		sbuf_addf(out, "%.*s/", STR_FMT(n.domain));
	else
		sbuf_addf(out, HUB "/%s", find(n.path, '/') ? "" : "library/");
	sbuf_add(out, n.path.p, n.path.n);
	if (n.digest.n)
		sbuf_addf(out, "@%.*s", STR_FMT(n.digest));
	else if (n.tag.n)
		sbuf_addf(out, ":%.*s", STR_FMT(n.tag));
	else
		sbuf_adds(out, ":latest");
	return 0;
}

void image_name_repository(const char *normal, struct sbuf *out)
{
	struct str s = str_of(normal);
	struct image_name n = { 0 };

	cut_tail(&s, &n);
	sbuf_add(out, s.p, s.n);
}

struct str image_name_registry(const char *normal)
{
	const char *slash = strchr(normal, '/');

	return (struct str){ normal, slash ? (size_t)(slash - normal) : strlen(normal) };
}

bool image_name_is_loopback(const char *normal)
{
	struct str host = image_name_registry(normal);
	const char *colon = find(host, ':');

	if (host.n > 5 && memcmp(host.p, "[::1]", 5) == 0)
		return true;
	if (colon)
		host.n = (size_t)(colon - host.p);
	if (str_eq(host, "localhost"))
		return true;
	if (host.n < 4 || memcmp(host.p, "127.", 4) != 0)
		return false;
	for (size_t i = 0; i < host.n; i++)
		if (!isdigit((unsigned char)host.p[i]) && host.p[i] != '.')
			return false;
	return true;
}

/* "https://index.docker.io/v1/" -> "index.docker.io"; other keys lose scheme, /v1/ or /v2/ and a last slash. */
static struct str auth_key(const char *key)
{
	static const char *const schemes[] = { "https://", "http://" };
	static const char *const tails[] = { "/", "/v1", "/v2" };
	struct str s;

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (str_starts(key, schemes[i]))
			key += strlen(schemes[i]);
	s = str_of(key);
	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		size_t n = strlen(tails[i]);

		if (s.n > n && memcmp(s.p + s.n - n, tails[i], n) == 0)
			s.n -= n;
	}
	return s;
}

/* Label by label, so that '*' never spans a dot. */
static bool host_matches(struct str pattern, struct str host)
{
	struct str p, h;
	bool more_p, more_h;

	for (;;) {
		auto_free char *glob = NULL;
		auto_free char *label = NULL;

		more_p = str_split(&pattern, '.', &p);
		more_h = str_split(&host, '.', &h);
		if (!more_p || !more_h)
			return more_p == more_h;
		glob = xstrndup(p.p, p.n);
		label = xstrndup(h.p, h.n);
		if (fnmatch(glob, label, 0) != 0)
			return false;
	}
}

static bool auth_matches(struct str key, const char *normal)
{
	struct str host = image_name_registry(normal);
	const char *path = normal + host.n;
	const char *slash = find(key, '/');
	struct str key_host = { key.p, slash ? (size_t)(slash - key.p) : key.n };
	struct str key_path = { key.p + key_host.n, key.n - key_host.n };

	if (str_eq(key_host, "index.docker.io"))
		key_host = STR(HUB);
	if (!host_matches(key_host, host))
		return false;
	return strncmp(path, key_path.p, key_path.n) == 0;
}

const json_t *image_auth_pick(const json_t *auths, const char *normal)
{
	const json_t *best = NULL;
	size_t best_len = 0;
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)auths, key, v) {
		struct str k = auth_key(key);

		if (!auth_matches(k, normal) || (best && k.n <= best_len))
			continue;
		best = v;
		best_len = k.n;
	}
	return best;
}
