// SPDX-License-Identifier: Apache-2.0
/* training_job.c - reads a training job: its replicas, its policy, and what they are called
 *
 * The fields of the run policy stand in spec.runPolicy or, as in 2019, in spec itself; the newer place comes first.
 */
#include "control/training_job.h"

#include <ctype.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/template_hash.h"
#include "kinds/activity.h"
#include "kinds/training.h"

#define OLD_NAME_MAX 40 /* of a job's name in the names of v1alpha1 */
#define ID_LEN       4
#define SUFFIX_LEN   5

const struct training_form *training_form(const char *kind, const json_t *obj)
{
	const json_t *annotations = jsonx_at(obj, "metadata.annotations");
	const char *written = json_string_value(json_object_get(annotations, TRAINING_WRITTEN_AS));
	const struct training_form *today = NULL;

	for (size_t i = 0; i < training_nforms; i++) {
		const struct training_form *f = &training_forms[i];

		if (!streq(f->kind, kind))
			continue;
		/* A list of replicas is of the version that had lists, whoever wrote it. */
		if (f->listed ? jsonx_at(obj, "spec.replicaSpecs") && !jsonx_at(obj, "spec.pytorchReplicaSpecs")
			      : f->written_as && str_same(f->written_as, written))
			return f;
		if (!f->written_as)
			today = f;
	}
	return today;
}

bool training_is_among(const char *types, const char *type)
{
	struct str rest = str_of(types ? types : "");
	struct str part;

	while (str_split(&rest, '|', &part))
		if (str_eq(part, type))
			return true;
	return false;
}

/* ---- replicas ---- */

static enum training_restart restart_of(const char *text)
{
	static const char *const names[] = { "Never", "OnFailure", "Always", "ExitCode" };

	for (int i = 0; i < (int)ARRAY_SIZE(names); i++)
		if (streq(text, names[i]))
			return (enum training_restart)i;
	return RESTART_NEVER;
}

static void read_container(const struct training_form *f, struct training_role *r)
{
	const json_t *containers = jsonx_at(r->template, "spec.containers");
	const json_t *chosen = json_array_get(containers, 0);
	json_t *c;
	json_t *p;
	size_t i;

	json_array_foreach (containers, i, c)
		if (f->container && str_same(jsonx_str(c, "name"), f->container))
			chosen = c;
	r->container = jsonx_str_or(chosen, "name", "");
	r->ports = json_object_get(chosen, "ports");
	r->port = f->port;
	json_array_foreach (r->ports, i, p)
		if (f->port_name && str_same(jsonx_str(p, "name"), f->port_name))
			r->port = (int)jsonx_int_or(p, "containerPort", f->port);
}

static void add_role(struct training_job *j, const char *type, const json_t *spec)
{
	const char *policy = j->form->pod_restarts ? jsonx_str_or(spec, "template.spec.restartPolicy", "Always")
						   : jsonx_str_or(spec, "restartPolicy", "Never");
	struct training_role r = { .type = xstrdup(type),
				   .lower = xstrdup(type),
				   .replicas = (int)jsonx_int_or(spec, "replicas", 1),
				   .first_rank = j->total,
				   .restart = restart_of(policy),
				   .template = json_object_get(spec, "template"),
				   .leads = training_is_among(j->form->leaders, type) &&
					    jsonx_int_or(spec, "replicas", 1) > 0 };

	/* There the end of the container decides, which a pod that always runs again would not have. */
	if (j->form->pod_restarts && r.restart == RESTART_ALWAYS)
		r.restart = RESTART_ON_FAILURE;
	for (char *c = r.lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	read_container(j->form, &r);
	if (j->form->listed)
		r.port = (int)jsonx_int_or(spec, "masterPort", j->form->port);
	j->total += r.replicas;
	ARRAY_PUSH(j->roles, j->n, j->cap, r);
}

/* Those that the form knows in its order, then the others in the author's. */
static void read_roles(struct training_job *j)
{
	json_t *specs = json_object_get(j->spec, j->form->specs);
	struct str rest = str_of(j->form->order);
	struct str type;
	const char *key;
	json_t *v;
	size_t i;

	while (str_split(&rest, '|', &type)) {
		auto_free char *name = xstrndup(type.p, type.n);

		json_array_foreach (specs, i, v)
			if (streq(jsonx_str_or(v, "replicaType", "MASTER"), name))
				add_role(j, name, v);
		if ((v = json_object_get(specs, name)))
			add_role(j, name, v);
	}
	json_object_foreach (specs, key, v)
		if (!training_is_among(j->form->order, key))
			add_role(j, key, v);
}

const struct training_role *training_role(const struct training_job *j, const char *type)
{
	for (size_t i = 0; i < j->n; i++)
		if (strcasecmp(j->roles[i].type, type) == 0)
			return &j->roles[i];
	return NULL;
}

const struct training_role *training_members(const struct training_job *j)
{
	return training_role(j, j->form->members);
}

/* ---- policy ---- */

static const json_t *policy_at(const json_t *spec, const char *key)
{
	const json_t *v = json_object_get(json_object_get(spec, "runPolicy"), key);

	return v && !json_is_null(v) ? v : json_object_get(spec, key);
}

static int64_t policy_int(const json_t *spec, const char *key, int64_t fallback)
{
	const json_t *v = policy_at(spec, key);

	return json_is_integer(v) ? json_integer_value(v) : fallback;
}

static enum training_clean clean_of(const char *text, enum training_clean fallback)
{
	static const char *const names[] = { "None", "Running", "All" };

	for (int i = 0; text && i < (int)ARRAY_SIZE(names); i++)
		if (streq(text, names[i]))
			return (enum training_clean)i;
	return fallback;
}

/* v1alpha1 writes it into the spec; until that is done it is what it will be. */
static char *id_of(const struct training_job *j)
{
	const char *set = jsonx_str(j->spec, "RuntimeId");
	json_auto_t *uid = jsonx_string(j->uid);
	auto_free char *hash = template_hash(uid, 0);

	if (!j->form->listed)
		return xstrdup("");
	return set && *set ? xstrdup(set) : xstrndup(hash, ID_LEN);
}

struct training_job training_job(const struct training_form *form, const json_t *obj)
{
	const json_t *spec = json_object_get(obj, "spec");
	const json_t *annotations = jsonx_at(obj, "metadata.annotations");
	struct training_job j = {
		.form = form,
		.obj = obj,
		.spec = spec,
		.name = jsonx_str_or(obj, "metadata.name", ""),
		.ns = jsonx_str_or(obj, "metadata.namespace", ""),
		.uid = jsonx_str_or(obj, "metadata.uid", ""),
		.clean = clean_of(json_string_value(policy_at(spec, "cleanPodPolicy")), form->clean),
		.ttl = policy_int(spec, "ttlSecondsAfterFinished", -1),
		.deadline = policy_int(spec, "activeDeadlineSeconds", -1),
		.backoff = policy_int(spec, "backoffLimit", form->backoff),
		.suspend = json_is_true(policy_at(spec, "suspend")),
		.gang = str_same(json_string_value(json_object_get(annotations, TRAINING_RESTART)), "gang"),
		.hang_after = hang_after_of(obj),
		.dynamic = jsonx_bool_or(spec, "enableDynamicWorker", false),
		.elastic = form->elastic && jsonx_at(spec, "elasticPolicy"),
	};

	j.id = id_of(&j);
	read_roles(&j);
	return j;
}

void training_job_done(struct training_job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		free(j->roles[i].type);
		free(j->roles[i].lower);
	}
	free(j->roles);
	free(j->id);
}

/* ---- names ---- */

char *training_replica(const struct training_role *r, int index)
{
	return xasprintf("%s-%d", r->lower, index);
}

char *training_host(const struct training_job *j, const struct training_role *r, int index)
{
	if (*j->id)
		return xasprintf("%.*s-%s-%s-%d", OLD_NAME_MAX, j->name, r->lower, j->id, index);
	if (j->form->lone && streq(j->form->lone, r->type))
		return xasprintf("%s-%s", j->name, r->lower);
	return xasprintf("%s-%s-%d", j->name, r->lower, index);
}

char *training_pod_name(const struct training_job *j, const struct training_role *r, int index, int attempt)
{
	json_auto_t *seed = NULL;
	auto_free char *hash = NULL;

	if (!*j->id)
		return training_host(j, r, index);
	/* Made of what it stands for, so that a pod made twice would be refused; the end of a hash differs most. */
	seed = json_pack("[s, i]", j->uid, r->first_rank + index);
	hash = template_hash(seed, attempt + 1);
	return xasprintf("%.*s-%s-%s-%d-%s", OLD_NAME_MAX, j->name, r->lower, j->id, r->first_rank + index,
			 strlen(hash) > SUFFIX_LEN ? hash + strlen(hash) - SUFFIX_LEN : hash);
}
