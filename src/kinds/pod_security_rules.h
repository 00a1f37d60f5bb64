// SPDX-License-Identifier: Apache-2.0
/* pod_security_rules.h - the rules behind pod_security.h; for the pod_security_*.c files only */
#ifndef STOKER_KINDS_POD_SECURITY_RULES_H
#define STOKER_KINDS_POD_SECURITY_RULES_H

#include "kinds/pod_security.h"

#define SECURITY_DETAIL_MAX 4096

struct security_subject {
	const json_t *meta, *spec;
	int minor; /* as in struct pod_security */
};

struct security_rule;
/* 0 if the pod keeps the rule; else how many values are wrong, and what is wrong in `out`. */
typedef size_t security_check_fn(const struct security_rule *r, const struct security_subject *s, struct sbuf *out);
typedef bool security_bad_fn(const json_t *value /* or NULL */);

struct security_rule {
	const char *id; /* NULL after the last */
	enum pod_security_level level;
	int since, until;             /* minor versions; until 0: still */
	const char *reason, *reasons; /* singular, and plural where there is one */
	const char *replaces;         /* id of the baseline rule that this one stands in for, or NULL */
	bool host_paths;              /* see POD_SECURITY_HOST_PATHS */
	bool linux_only;              /* pods for Windows need not keep it since 1.25; such a pod never starts here */
	security_check_fn *check;
	/* rules about one field of a securityContext */
	const char *path;
	bool pod_too; /* the pod's own securityContext has it as well */
	security_bad_fn *bad;
	const char *text; /* after those who set it */
	bool names_values;
	const char *unset_text; /* after those who should set it */
};

/* In the order in which complaints are made. */
extern const struct security_rule security_rules[];

/* pod_security_spec.c */
security_check_fn security_host_namespaces, security_host_paths, security_host_ports, security_probe_hosts,
	security_sysctls, security_volumes;

/* --- pod_security_finding.c: who asked for what --- */
struct finding {
	bool pod;           /* the pod's own securityContext */
	json_t *containers; /* names, in order */
	json_t *values;     /* an object, as a set */
};
struct finding finding_new(void);
void finding_done(struct finding *f);
#define auto_finding __attribute__((cleanup(finding_done)))
bool finding_any(const struct finding *f);
void finding_container(struct finding *f, const json_t *container);
void finding_value(struct finding *f, const char *value);
/* Notes all whose field at `path` in their securityContext is bad. */
void finding_gather(const struct security_subject *s, const char *path, bool pod_too, security_bad_fn *bad,
		    struct finding *f);
/* Notes containers that leave the field to the pod, which does not set it. */
void finding_gather_unset(const struct security_subject *s, const char *path, struct finding *f);

/* The containers of a pod one by one; start with a zero walk. */
struct security_walk {
	size_t list, i;
};
const json_t *security_next_container(const json_t *spec, struct security_walk *w);
const json_t *security_context_field(const json_t *holder, const char *path);

/* In words. */
const char *finding_plural(const char *one, const char *many, size_t n);
void finding_say_names(const json_t *names, struct sbuf *out);
void finding_say_set(const json_t *set, const char *quote, struct sbuf *out);
/* `container "a"`, `containers "a", "b"`. */
void finding_say_containers(const struct finding *f, struct sbuf *out);
/* `pod`, `container "a"`, `pod and containers "a", "b"`. */
void finding_say_setters(const struct finding *f, struct sbuf *out);

#endif
