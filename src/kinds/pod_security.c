// SPDX-License-Identifier: Apache-2.0
/* pod_security.c - levels, versions and labels of the Pod Security Standards
 *
 * The rules themselves are the table of pod_security_rules.c.  A rule of the restricted level may stand in for one of
 * the baseline, which is then left out, so that nothing is told twice.
 */
#include "kinds/pod_security.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/field.h"
#include "kinds/pod_security_rules.h"

#define PREFIX "pod-security.kubernetes.io/"

static const char *const levels[] = { "privileged", "baseline", "restricted" };

const char *const pod_container_lists[3] = { "initContainers", "containers", "ephemeralContainers" };

const char *pod_security_text(struct pod_security p, char buf[POD_SECURITY_TEXT_LEN])
{
	if (p.minor == POD_SECURITY_LATEST)
		snprintf(buf, POD_SECURITY_TEXT_LEN, "%s:latest", levels[p.level]);
	else
		snprintf(buf, POD_SECURITY_TEXT_LEN, "%s:v1.%d", levels[p.level], p.minor);
	return buf;
}

/* ---- labels ---- */

static bool parse_level(const char *s, enum pod_security_level *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (streq(s, levels[i])) {
			*ret = (enum pod_security_level)i;
			return true;
		}
	return false;
}

static bool parse_version(const char *s, int *ret)
{
	bool digits = str_starts(s, "v1.") && s[3] >= '0' && s[3] <= '9' && (s[3] != '0' || !s[4]);
	int64_t minor;

	if (streq(s, "latest")) {
		*ret = POD_SECURITY_LATEST;
		return true;
	}
	if (!digits || !str_int64(s + 3, 0, 99999, &minor))
		return false;
	*ret = (int)minor;
	return true;
}

/* The text of a label, or NULL. */
static const char *label(const json_t *labels, const char *mode, const char *suffix, char key[64])
{
	snprintf(key, 64, PREFIX "%s%s", mode, suffix);
	return json_string_value(json_object_get(labels, key));
}

static void complain(const char *key, const char *value, const char *why, struct err *e)
{
	json_auto_t *shown = jsonx_string(value);
	const struct path *at = PATH_KEY(PATH_FIELD(PATH_FIELD(NULL, "metadata"), "labels"), key);

	path_invalid(at, e, shown, "%s", why);
}

int pod_security_read(const json_t *labels, struct pod_security_policy *ret, struct err *e)
{
	struct pod_security_policy p = { { POD_SECURITY_PRIVILEGED, POD_SECURITY_LATEST },
					 { POD_SECURITY_PRIVILEGED, POD_SECURITY_LATEST },
					 { POD_SECURITY_PRIVILEGED, POD_SECURITY_LATEST } };
	const struct {
		const char *mode;
		struct pod_security *to;
		enum pod_security_level fallback; /* where the label cannot be understood */
	} modes[] = {
		{ "enforce", &p.enforce, POD_SECURITY_RESTRICTED },
		{ "audit", &p.audit, POD_SECURITY_PRIVILEGED },
		{ "warn", &p.warn, POD_SECURITY_PRIVILEGED },
	};
	bool level_ok[ARRAY_SIZE(modes)] = { false };
	bool has[ARRAY_SIZE(modes)] = { false };
	bool has_version[ARRAY_SIZE(modes)] = { false };
	unsigned before = e->ncauses;
	char key[64];

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		const char *value = label(labels, modes[i].mode, "", key);

		has[i] = value != NULL;
		level_ok[i] = value && parse_level(value, &modes[i].to->level);
		if (value && !level_ok[i]) {
			modes[i].to->level = modes[i].fallback;
			complain(key, value, "must be one of privileged, baseline, restricted", e);
		}
		value = label(labels, modes[i].mode, "-version", key);
		has_version[i] = value != NULL;
		if (value && !parse_version(value, &modes[i].to->minor))
			complain(key, value, "must be \"latest\" or \"v1.x\"", e);
	}
	/* Who enforces a level without a word on warnings is warned of templates at that level too. */
	if (level_ok[0] && !has[2]) {
		p.warn.level = p.enforce.level;
		if (!has_version[2])
			p.warn.minor = p.enforce.minor;
	}
	*ret = p;
	return e->ncauses > before ? -1 : 0;
}

/* ---- asking the rules ---- */

static bool in_force(const struct security_rule *r, struct pod_security p)
{
	bool started = p.minor == POD_SECURITY_LATEST || p.minor >= r->since;
	bool ended = r->until && (p.minor == POD_SECURITY_LATEST || p.minor >= r->until);

	return r->level <= p.level && started && !ended;
}

/* Whether a rule that is in force stands in for this one. */
static bool replaced(const struct security_rule *r, struct pod_security p)
{
	for (const struct security_rule *o = security_rules; o->id; o++)
		if (o->replaces && streq(o->replaces, r->id) && in_force(o, p))
			return true;
	return false;
}

static bool is_windows(const struct security_subject *s)
{
	return (s->minor == POD_SECURITY_LATEST || s->minor >= 25) &&
	       str_same(jsonx_str(s->spec, "os.name"), "windows");
}

size_t pod_security_check(struct pod_security p, const json_t *meta, const json_t *spec, unsigned flags,
			  struct sbuf *out)
{
	struct security_subject s = { meta, spec, p.minor };
	size_t broken = 0;

	if (p.level == POD_SECURITY_PRIVILEGED)
		return 0;
	for (const struct security_rule *r = security_rules; r->id; r++) {
		auto_sbuf struct sbuf detail = SBUF(SECURITY_DETAIL_MAX);
		size_t values;

		if (!in_force(r, p) || replaced(r, p) || (r->host_paths && (flags & POD_SECURITY_HOST_PATHS)) ||
		    (r->linux_only && is_windows(&s)))
			continue;
		values = r->check(r, &s, &detail);
		if (!values)
			continue;
		sbuf_adds(out, broken++ ? ", " : "");
		sbuf_adds(out, values > 1 && r->reasons ? r->reasons : r->reason);
		if (!(flags & POD_SECURITY_BRIEF))
			sbuf_addf(out, " (%s)", detail.p ? detail.p : "");
	}
	return broken;
}

static bool same_image(const json_t *a, const json_t *b)
{
	return str_same(jsonx_str(a, "image"), jsonx_str(b, "image"));
}

static const json_t *named(const json_t *list, const char *name)
{
	json_t *c;
	size_t i;

	json_array_foreach ((json_t *)list, i, c)
		if (str_same(jsonx_str(c, "name"), name))
			return c;
	return NULL;
}

bool pod_security_concerned(const json_t *spec, const json_t *old_spec)
{
	for (size_t l = 0; l < ARRAY_SIZE(pod_container_lists); l++) {
		const json_t *now = json_object_get(spec, pod_container_lists[l]);
		const json_t *was = json_object_get(old_spec, pod_container_lists[l]);
		json_t *c;
		size_t i;

		if (json_array_size(now) != json_array_size(was))
			return true;
		json_array_foreach ((json_t *)now, i, c) {
			const json_t *old = named(was, jsonx_str_or(c, "name", ""));

			if (!old || !same_image(c, old))
				return true;
		}
	}
	return false;
}
