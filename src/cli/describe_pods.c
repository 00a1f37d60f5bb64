// SPDX-License-Identifier: Apache-2.0
/* describe_pods.c - what a workload runs: image, command, resources, volumes; its pods, or a pod's containers
 *
 * Image and command are those of the pod template, or of the pod itself.  A kind with several templates (a training
 * job's parts) shows its first one; its parts have a table of their own.
 */
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/amounts.h"
#include "cli/describe_parts.h"
#include "cli/work.h"
#include "kinds/core.h"
#include "kinds/pod_columns.h"
#include "kinds/pod_templates.h"

#define PODS_AT_MOST    20
#define COMMAND_AT_MOST 400

/* ---- the template ---- */

static void take_first(void *arg, const json_t *tpl)
{
	const json_t **spec = arg;

	if (!*spec)
		*spec = json_object_get(tpl, "spec");
}

/* The spec of its pods, or NULL. */
static const json_t *pod_spec(const struct about *a)
{
	const json_t *spec = NULL;

	if (a->kind == &kind_pod)
		return json_object_get(a->obj, "spec");
	pod_templates_each(a->kind, a->obj, take_first, &spec);
	return spec ? spec : json_object_get(json_array_get(a->pods, 0), "spec");
}

/* As a shell would need it. */
static void add_word(struct sbuf *out, const char *word)
{
	bool simple = *word && !word[strcspn(word, " \t\n'\"$&|;<>()*?#`\\")];

	if (out->n)
		sbuf_addc(out, ' ');
	if (simple) {
		sbuf_adds(out, word);
		return;
	}
	sbuf_addc(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			sbuf_adds(out, "'\\''");
		else
			sbuf_addc(out, *word);
	sbuf_addc(out, '\'');
}

static void add_words(struct sbuf *out, const json_t *words)
{
	json_t *w;
	size_t i;

	json_array_foreach ((json_t *)words, i, w)
		add_word(out, json_string_value(w) ? json_string_value(w) : "");
}

static void container_fields(const json_t *c, const char *label, bool several, struct page *p)
{
	auto_sbuf struct sbuf command = SBUF(COMMAND_AT_MOST);
	const char *name = jsonx_str_or(c, "name", "");
	const char *image = jsonx_str_or(c, "image", "");

	add_words(&command, json_object_get(c, "command"));
	add_words(&command, json_object_get(c, "args"));
	if (command.over) {
		command.n = command.n > 3 ? command.n - 3 : 0;
		command.p[command.n] = '\0';
	}
	if (several) {
		page_field(p, label, "%s: image %s%s%s%s", name, image, command.n ? ", command " : "",
			   command.n ? command.p : "", command.over ? " ..." : "");
		return;
	}
	page_field(p, "Image", "%s", image);
	page_field(p, "Command", "%s%s", command.n ? command.p : "", command.over ? " ..." : "");
}

static void containers_fields(const json_t *spec, struct page *p)
{
	const json_t *init = json_object_get(spec, "initContainers");
	const json_t *main = json_object_get(spec, "containers");
	bool several = json_array_size(init) + json_array_size(main) > 1;
	json_t *c;
	size_t i;

	json_array_foreach ((json_t *)init, i, c)
		container_fields(c, "Init", several, p);
	json_array_foreach ((json_t *)main, i, c)
		container_fields(c, "Container", several, p);
}

static struct amounts used_by_pods(const struct about *a, size_t *ret_n)
{
	struct amounts sum = { 0 };
	json_t *pod;
	size_t i;

	*ret_n = 0;
	json_array_foreach (a->pods, i, pod) {
		const json_t *m = amounts_find(a->metrics, jsonx_str_or(pod, "metadata.namespace", ""),
					       jsonx_str_or(pod, "metadata.name", ""));
		struct amounts used = amounts_used(m);

		if (!m)
			continue;
		amounts_add(&sum, &used);
		++*ret_n;
	}
	return sum;
}

static void use_field(const struct about *a, const struct amounts *limits, struct page *p)
{
	char cpu[AMOUNT_TEXT];
	char memory[AMOUNT_TEXT];
	char part[AMOUNT_TEXT];
	size_t n;
	struct amounts used = used_by_pods(a, &n);
	auto_sbuf struct sbuf text = SBUF(256);

	if (!n)
		return;
	sbuf_addf(&text, "%s CPU", cpu_text(used.cpu, cpu));
	if (limits->cpu)
		sbuf_addf(&text, " (%s of the limit)", percent_text(used.cpu, limits->cpu * (int64_t)n, part));
	sbuf_addf(&text, ", %s memory", memory_text(used.memory, memory));
	if (limits->memory)
		sbuf_addf(&text, " (%s of the limit)", percent_text(used.memory, limits->memory * (int64_t)n, part));
	if (a->kind != &kind_pod)
		sbuf_addf(&text, ", by %zu pod%s", n, n == 1 ? "" : "s");
	page_field(p, "Uses", "%s", text.p);
}

static void resource_fields(const struct about *a, const json_t *spec, struct page *p)
{
	struct amounts limits = amounts_of_spec(spec, "limits");
	struct amounts requests = amounts_of_spec(spec, "requests");
	const char *each = a->kind == &kind_pod ? "" : " for each pod";
	auto_sbuf struct sbuf asks = SBUF(256);
	auto_sbuf struct sbuf most = SBUF(256);

	/* What is limited and not asked for is asked for in full. */
	requests.cpu = requests.cpu ? requests.cpu : limits.cpu;
	requests.memory = requests.memory ? requests.memory : limits.memory;
	requests.gpus = limits.gpus;
	amounts_words(&requests, &asks);
	limits.gpus = 0;
	amounts_words(&limits, &most);
	if (asks.n)
		page_field(p, "Asks for", "%s%s", asks.p, each);
	if (most.n)
		page_field(p, "Limit", "%s%s", most.p, each);
	use_field(a, &limits, p);
}

void template_fields(const struct about *a, struct page *p)
{
	const json_t *spec = pod_spec(a);
	const json_t *selector = json_object_get(spec, "nodeSelector");
	auto_sbuf struct sbuf text = SBUF(1024);

	if (!spec)
		return;
	containers_fields(spec, p);
	resource_fields(a, spec, p);
	map_words(selector, &text);
	page_field(p, "Only on", "%s%s", text.n ? "nodes with " : "", text.n ? text.p : "");
	page_field(p, "Priority", "%s", jsonx_str_or(spec, "priorityClassName", ""));
}

/* ---- volumes ---- */

static const struct table_column volume_columns[] = { { "VOLUME" }, { "IS" }, { "AT" } };

static const json_t *claim_of(const struct about *a, const char *name)
{
	json_t *c;
	size_t i;

	json_array_foreach (a->beside, i, c)
		if (str_same(jsonx_str(c, "metadata.name"), name))
			return c;
	return NULL;
}

static void add_claim(const struct about *a, const char *name, struct sbuf *out)
{
	const json_t *claim = claim_of(a, name);
	const char *size = json_string_value(json_object_get(jsonx_at(claim, "status.capacity"), "storage"));

	sbuf_addf(out, "claim %s", name);
	if (claim)
		sbuf_addf(out, " (%s%s%s)", jsonx_str_or(claim, "status.phase", "Pending"), size ? ", " : "",
			  size ? size : "");
	else if (json_array_size(a->beside))
		sbuf_adds(out, " (does not exist)");
}

static void add_source(const struct about *a, const json_t *volume, struct sbuf *out)
{
	static const struct {
		const char *path, *says;
	} sources[] = {
		{ "hostPath.path", "this machine's " }, { "configMap.name", "ConfigMap " },
		{ "secret.secretName", "Secret " },     { "nfs.path", "NFS " },
		{ "image.reference", "image " },
	};
	const char *claim = jsonx_str(volume, "persistentVolumeClaim.claimName");
	const char *key;
	json_t *v;

	if (claim) {
		add_claim(a, claim, out);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (jsonx_str(volume, sources[i].path)) {
			sbuf_addf(out, "%s%s", sources[i].says, jsonx_str(volume, sources[i].path));
			return;
		}
	if (json_object_get(volume, "emptyDir")) {
		bool memory = streq(jsonx_str_or(volume, "emptyDir.medium", ""), "Memory");

		sbuf_addf(out, "empty at the start%s, gone with the pod", memory ? ", in memory" : "");
		return;
	}
	json_object_foreach ((json_t *)volume, key, v)
		if (!streq(key, "name"))
			sbuf_addf(out, "%s%s", out->n ? " " : "", key);
}

static void add_mounts(const json_t *spec, const char *volume, struct sbuf *out)
{
	static const char *const lists[] = { "initContainers", "containers" };
	json_auto_t *seen = json_object();

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		json_t *c;
		json_t *m;
		size_t i;
		size_t k;

		json_array_foreach (json_object_get(spec, lists[l]), i, c)
			json_array_foreach (json_object_get(c, "volumeMounts"), k, m) {
				const char *path = jsonx_str_or(m, "mountPath", "");

				if (!str_same(jsonx_str(m, "name"), volume) || json_object_get(seen, path))
					continue;
				json_object_set_new(seen, path, json_true());
				sbuf_addf(out, "%s%s%s", out->n ? ", " : "", path,
					  jsonx_bool_or(m, "readOnly", false) ? " (read-only)" : "");
			}
	}
}

/* Every pod has one with its service account's token; nobody asked for it. */
static bool is_token(const json_t *volume)
{
	return str_starts(jsonx_str_or(volume, "name", ""), "kube-api-access-");
}

void volumes_table(const struct about *a, struct page *p)
{
	const json_t *spec = pod_spec(a);
	auto_table struct table t = TABLE(volume_columns);
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(spec, "volumes"), i, v) {
		auto_sbuf struct sbuf is = SBUF(1024);
		auto_sbuf struct sbuf at = SBUF(1024);

		if (is_token(v))
			continue;
		add_source(a, v, &is);
		add_mounts(spec, jsonx_str_or(v, "name", ""), &at);
		table_add(&t, TINT_NONE, jsonx_str_or(v, "name", ""));
		table_add(&t, TINT_NONE, is.p);
		table_add(&t, TINT_NONE, at.p);
	}
	if (!table_rows(&t))
		return;
	page_section(p, "Volumes");
	page_table(p, &t);
}

/* ---- pods ---- */

static const struct table_column pods_columns[] = {
	{ "NAMESPACE" },
	{ "NAME" },
	{ "STATE" },
	{ "READY", .right = true },
	{ "NODE" },
	{ "RESTARTS", .right = true },
	{ "AGE" },
	{ "EXIT", .right = true },
	{ "REASON", .cut = true },
};

/* What `kubectl get pods` says in that column: a new text. */
static char *pod_cell(const json_t *pod, const char *column, int64_t now)
{
	for (size_t i = 0; i < POD_COLUMNS; i++)
		if (streq(pod_columns[i].name, column)) {
			json_auto_t *v = pod_columns[i].cell(pod, now);

			return xstrdup(json_string_value(v) ? json_string_value(v) : "");
		}
	return xstrdup("");
}

/* How the container with the most to say ended last: one that failed, else any; NULL if none has. */
static const json_t *last_end(const json_t *pod)
{
	static const char *const lists[] = { "status.initContainerStatuses", "status.containerStatuses" };
	const json_t *found = NULL;

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		json_t *s;
		size_t i;

		json_array_foreach (jsonx_at(pod, lists[l]), i, s) {
			const json_t *end = jsonx_at(s, "state.terminated");

			end = end ? end : jsonx_at(s, "lastState.terminated");
			if (end && (l == 1 || jsonx_int_or(end, "exitCode", 0)) &&
			    (!found || !jsonx_int_or(found, "exitCode", 0)))
				found = end;
		}
	}
	return found;
}

static void add_reason(const json_t *pod, const json_t *end, struct sbuf *out)
{
	const char *how = jsonx_str_or(end, "reason", "");

	if (*jsonx_str_or(pod, "status.reason", "")) {
		const char *message = jsonx_str_or(pod, "status.message", "");

		sbuf_addf(out, "%s%s%s", jsonx_str_or(pod, "status.reason", ""), *message ? ": " : "", message);
		return;
	}
	if (*how && !streq(how, "Completed") && !streq(how, "Error"))
		sbuf_adds(out, how);
	else if (!streq(jsonx_str_or(pod, "status.phase", ""), "Succeeded"))
		work_pod_waits(pod, out);
}

static void add_pod(const struct about *a, const json_t *pod, bool with_namespace, struct table *t)
{
	auto_free char *state = pod_cell(pod, "Status", a->now);
	auto_free char *ready = pod_cell(pod, "Ready", a->now);
	auto_free char *restarts = pod_cell(pod, "Restarts", a->now);
	const json_t *end = last_end(pod);
	auto_sbuf struct sbuf reason = SBUF(1024);
	struct work w;
	char age[32];

	work_read(&kind_pod, pod, NULL, &w);
	add_reason(pod, end, &reason);
	if (with_namespace)
		table_add(t, TINT_NONE, jsonx_str_or(pod, "metadata.namespace", ""));
	table_add(t, TINT_NONE, jsonx_str_or(pod, "metadata.name", ""));
	table_add(t, work_phase_tint(w.phase), state);
	table_add(t, TINT_NONE, ready);
	table_add(t, TINT_NONE, jsonx_str_or(pod, "spec.nodeName", ""));
	table_add(t, TINT_NONE, restarts);
	table_add(t, TINT_NONE, since(a, w.created, age));
	if (end)
		table_addf(t, jsonx_int_or(end, "exitCode", 0) ? TINT_BAD : TINT_NONE, "%lld",
			   (long long)jsonx_int_or(end, "exitCode", 0));
	else
		table_add(t, TINT_NONE, "-");
	table_add(t, TINT_NONE, reason.p);
}

/* Those that need a look first, then the youngest. */
static int urgency(const json_t *pod)
{
	struct work w;

	work_read(&kind_pod, pod, NULL, &w);
	return w.phase == WORK_FAILED                          ? 0
	       : w.phase == WORK_PENDING || w.reason[0]        ? 1
	       : w.phase == WORK_RUNNING && w.ready < w.wanted ? 2
	       : w.phase == WORK_RUNNING                       ? 3
							       : 4;
}

static int by_urgency(const void *x, const void *y)
{
	json_t *const *a = x;
	json_t *const *b = y;
	int d = urgency(*a) - urgency(*b);

	return d ? d : strcmp(jsonx_str_or(*a, "metadata.name", ""), jsonx_str_or(*b, "metadata.name", ""));
}

static void pods_table(const struct about *a, bool with_namespace, struct page *p)
{
	size_t n = json_array_size(a->pods);
	auto_free json_t **sorted = xcalloc(n + 1, sizeof(json_t *));
	auto_table struct table t = TABLE(pods_columns);

	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		sorted[i] = json_array_get(a->pods, i);
	qsort(sorted, n, sizeof(json_t *), by_urgency);
	if (!with_namespace) {
		t.columns++;
		t.ncolumns--;
	}
	for (size_t i = 0; i < n && i < PODS_AT_MOST; i++)
		add_pod(a, sorted[i], with_namespace, &t);
	page_section(p, "Pods");
	page_table(p, &t);
	if (n > PODS_AT_MOST)
		page_note(p, "and %zu more; `stoker ps pods` shows all", n - PODS_AT_MOST);
}

/* ---- containers ---- */

static const struct table_column container_columns[] = {
	{ "CONTAINER" },
	{ "STATE" },
	{ "READY" },
	{ "RESTARTS", .right = true },
	{ "SINCE" },
	{ "EXIT", .right = true },
	{ "REASON", .cut = true },
};

static void add_container(const struct about *a, const json_t *s, bool init, struct table *t)
{
	const json_t *running = jsonx_at(s, "state.running");
	const json_t *waiting = jsonx_at(s, "state.waiting");
	const json_t *ended = jsonx_at(s, "state.terminated");
	const json_t *end = ended ? ended : jsonx_at(s, "lastState.terminated");
	int64_t then = running ? time_in(running, "startedAt") : time_in(end, "finishedAt");
	const char *how = jsonx_str_or(end, "reason", "");
	const char *message = jsonx_str_or(waiting, "message", jsonx_str_or(end, "message", ""));
	int64_t code = jsonx_int_or(end, "exitCode", 0);
	char age[32];

	table_addf(t, TINT_NONE, "%s%s", jsonx_str_or(s, "name", ""), init ? " (init)" : "");
	table_add(t,
		  running          ? TINT_GOOD
		  : ended && !code ? TINT_NONE
		  : ended          ? TINT_BAD
				   : TINT_BUSY,
		  running ? "Running"
		  : ended ? "Ended"
			  : jsonx_str_or(waiting, "reason", "Waiting"));
	table_add(t, TINT_NONE, ended && !code ? "-" : jsonx_bool_or(s, "ready", false) ? "yes" : "no");
	table_addf(t, TINT_NONE, "%lld", (long long)jsonx_int_or(s, "restartCount", 0));
	table_add(t, TINT_NONE, since(a, then, age));
	if (end)
		table_addf(t, code ? TINT_BAD : TINT_NONE, "%lld", (long long)code);
	else
		table_add(t, TINT_NONE, "-");
	table_addf(t, TINT_NONE, "%s%s%s", how, *how && *message ? ": " : "", message);
}

static void containers_table(const struct about *a, struct page *p)
{
	auto_table struct table t = TABLE(container_columns);
	json_t *s;
	size_t i;

	json_array_foreach (jsonx_at(a->obj, "status.initContainerStatuses"), i, s)
		add_container(a, s, true, &t);
	json_array_foreach (jsonx_at(a->obj, "status.containerStatuses"), i, s)
		add_container(a, s, false, &t);
	if (!table_rows(&t))
		return;
	page_section(p, "Containers");
	page_table(p, &t);
}

void pods_tables(const struct about *a, struct page *p)
{
	if (a->kind == &kind_pod)
		containers_table(a, p);
	else
		pods_table(a, a->kind == &kind_node, p);
}
