// SPDX-License-Identifier: Apache-2.0
/* apply_test.c - stories of managers that share an object, told step by step
 *
 * Each step is one write at second 1, 2, 3 ... and what the object (without managedFields), the record or the error is
 * afterwards.  The record is printed short: "a/Apply@1 .data.x .data.y; b/Update@2 .data.z".
 */
#include "api/fieldset.h"
#include "api/patch.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "sample_json.h"
#include "sample_types.h"
#include "test.h"

enum step_kind { END, APPLY, FORCE, UPDATE, STATUS };

struct step {
	enum step_kind how;
	const char *manager;
	const char *body;   /* configuration, or for an update the whole new object */
	const char *object; /* NULL: as body */
	const char *record;
	const char *error; /* NULL: none */
};

static void print_path(void *arg, const char *path)
{
	sbuf_addf(arg, " %s", path);
}

static char *record_of(const json_t *obj)
{
	const json_t *entries = jsonx_at(obj, "metadata.managedFields");
	struct sbuf out;
	const json_t *entry;
	size_t i;

	sbuf_init(&out, 100000);
	json_array_foreach (entries, i, entry) {
		const char *sub = jsonx_str(entry, "subresource");
		int64_t micros = 0;

		clock_parse_rfc3339(jsonx_str_or(entry, "time", ""), &micros);
		sbuf_addf(&out, "%s%s/%s%s%s@%d", i ? "; " : "", jsonx_str(entry, "manager"),
			  jsonx_str(entry, "operation"), sub ? "/" : "", sub ? sub : "", (int)(micros / 1000000));
		fieldset_each(json_object_get(entry, "fieldsV1"), print_path, &out);
	}
	for (size_t k = 0; k < out.n; k++)
		out.p[k] = out.p[k] == '"' ? '\'' : out.p[k];
	return sbuf_steal(&out);
}

static json_t *without_record(const json_t *obj)
{
	json_t *copy = jsonx_copy(obj);

	jsonx_del(copy, "metadata.managedFields");
	if (json_object_size(json_object_get(copy, "metadata")) == 0)
		json_object_del(copy, "metadata");
	return copy;
}

/* One write; *obj becomes the new object. */
static void take_step(const struct kind *k, const struct step *s, int64_t now, json_t **obj)
{
	struct apply_request req = { .kind = k, .manager = s->manager, .force = s->how == FORCE, .now = now };
	json_t *body = sample_json(s->body);
	json_t *out = NULL;
	struct err e = ERR_INIT;

	if (s->how == STATUS)
		req.subresource = "status";
	if (s->how == APPLY || s->how == FORCE) {
		CHECK_INT(apply_merge(&req, *obj, body, &out, &e), s->error ? -1 : 0);
		CHECK_STR(e.text, s->error ? s->error : "");
		CHECK_INT(e.kind, s->error ? ERR_CONFLICT : ERR_NONE);
		json_decref(body);
	} else {
		out = body;
		apply_track_update(&req, *obj, out);
	}
	if (!out)
		return;
	json_decref(*obj);
	*obj = out;
}

static void tell(const struct kind *k, const struct step *steps)
{
	json_t *obj = NULL;

	for (int i = 0; steps[i].how != END; i++) {
		const struct step *s = &steps[i];
		json_t *bare;
		char *record;

		take_step(k, s, i + 1, &obj);
		bare = without_record(obj);
		record = record_of(obj);
		CHECK_JSON(bare, s->object ? s->object : s->body);
		CHECK_STR(record, s->record);
		json_decref(bare);
		free(record);
	}
	json_decref(obj);
}

TEST("an applier owns what it lists and loses what it drops")
{
	static const struct step story[] = {
		{ APPLY, "a", "{'data':{'x':'1','y':'2'}}", NULL, "a/Apply@1 .data.x .data.y", NULL },
		{ APPLY, "a", "{'data':{'x':'1','y':'2'}}", NULL, "a/Apply@1 .data.x .data.y", NULL },
		{ APPLY, "a", "{'data':{'x':'1'}}", NULL, "a/Apply@3 .data.x", NULL },
		{ APPLY, "a", "{'data':{'x':'9'}}", NULL, "a/Apply@4 .data.x", NULL },
		{ APPLY, "a", "{'spec':{'replicas':1}}", NULL, "a/Apply@5 .spec.replicas", NULL },
		{ APPLY, "a", "{}", "{}", "", NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("two appliers share equal values and fight over others")
{
	static const struct step story[] = {
		{ APPLY, "a", "{'data':{'x':'1','y':'1'}}", NULL, "a/Apply@1 .data.x .data.y", NULL },
		{ APPLY, "b", "{'data':{'x':'1'}}", "{'data':{'x':'1','y':'1'}}",
		  "a/Apply@1 .data.x .data.y; b/Apply@2 .data.x", NULL },
		{ APPLY, "b", "{'data':{'x':'2'}}", "{'data':{'x':'1','y':'1'}}",
		  "a/Apply@1 .data.x .data.y; b/Apply@2 .data.x",
		  "Apply failed with 1 conflict: conflict with \"a\": .data.x" },
		{ APPLY, "b", "{'data':{'x':'2','y':'2'}}", "{'data':{'x':'1','y':'1'}}",
		  "a/Apply@1 .data.x .data.y; b/Apply@2 .data.x",
		  "Apply failed with 2 conflicts: conflicts with \"a\":\n- .data.x\n- .data.y" },
		{ FORCE, "b", "{'data':{'x':'2'}}", "{'data':{'x':'2','y':'1'}}",
		  "a/Apply@1 .data.y; b/Apply@5 .data.x", NULL },
		{ APPLY, "a", "{'data':{'y':'1'}}", "{'data':{'x':'2','y':'1'}}",
		  "a/Apply@1 .data.y; b/Apply@5 .data.x", NULL },
		{ APPLY, "a", "{}", "{'data':{'x':'2'}}", "b/Apply@5 .data.x", NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("a shared value stays until its last owner drops it")
{
	static const struct step story[] = {
		{ APPLY, "a", "{'data':{'x':'1'}}", NULL, "a/Apply@1 .data.x", NULL },
		{ APPLY, "b", "{'data':{'x':'1'}}", NULL, "a/Apply@1 .data.x; b/Apply@2 .data.x", NULL },
		{ APPLY, "a", "{}", "{'data':{'x':'1'}}", "b/Apply@2 .data.x", NULL },
		{ APPLY, "b", "{}", "{}", "", NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("updates take what they change without asking")
{
	static const struct step story[] = {
		{ UPDATE, "kubectl-create", "{'data':{'x':'1','y':'1'}}", NULL,
		  "kubectl-create/Update@1 .data .data.x .data.y", NULL },
		{ UPDATE, "kubectl-patch", "{'data':{'x':'2','y':'1'}}", NULL,
		  "kubectl-create/Update@1 .data .data.y; kubectl-patch/Update@2 .data.x", NULL },
		{ UPDATE, "kubectl-patch", "{'data':{'x':'2','y':'1'}}", NULL,
		  "kubectl-create/Update@1 .data .data.y; kubectl-patch/Update@2 .data.x", NULL },
		{ APPLY, "a", "{'data':{'x':'3'}}", "{'data':{'x':'2','y':'1'}}",
		  "kubectl-create/Update@1 .data .data.y; kubectl-patch/Update@2 .data.x",
		  "Apply failed with 1 conflict: conflict with \"kubectl-patch\" using v1: .data.x" },
		{ FORCE, "a", "{'data':{'x':'3'}}", "{'data':{'x':'3','y':'1'}}",
		  "a/Apply@5 .data.x; kubectl-create/Update@1 .data .data.y", NULL },
		{ UPDATE, "kubectl-edit", "{'data':{'z':'1'}}", NULL,
		  "kubectl-create/Update@1 .data; kubectl-edit/Update@6 .data.z", NULL },
		{ UPDATE, "kubectl-edit", "{'data':{'z':'1','w':'1'}}", NULL,
		  "kubectl-create/Update@1 .data; kubectl-edit/Update@7 .data.z .data.w", NULL },
		{ UPDATE, "kubectl-edit", "{}", NULL, "", NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("lists merge by their keys, with defaults for keys left out")
{
	static const struct step story[] = {
		{ APPLY, "a", "{'spec':{'ports':[{'port':80,'protocol':'TCP'}]}}", NULL,
		  "a/Apply@1 .spec.ports[port=80,protocol='TCP'] .spec.ports[port=80,protocol='TCP'].port "
		  ".spec.ports[port=80,protocol='TCP'].protocol",
		  NULL },
		{ APPLY, "b", "{'spec':{'ports':[{'port':80,'name':'w'},{'port':80,'protocol':'UDP'}]}}",
		  "{'spec':{'ports':[{'port':80,'protocol':'TCP','name':'w'},{'port':80,'protocol':'UDP'}]}}",
		  "a/Apply@1 .spec.ports[port=80,protocol='TCP'] .spec.ports[port=80,protocol='TCP'].port "
		  ".spec.ports[port=80,protocol='TCP'].protocol; "
		  "b/Apply@2 .spec.ports[port=80,protocol='TCP'] .spec.ports[port=80,protocol='TCP'].port "
		  ".spec.ports[port=80,protocol='TCP'].name .spec.ports[port=80,protocol='UDP'] "
		  ".spec.ports[port=80,protocol='UDP'].port .spec.ports[port=80,protocol='UDP'].protocol",
		  NULL },
		{ APPLY, "b", "{}", "{'spec':{'ports':[{'port':80,'protocol':'TCP'}]}}",
		  "a/Apply@1 .spec.ports[port=80,protocol='TCP'] .spec.ports[port=80,protocol='TCP'].port "
		  ".spec.ports[port=80,protocol='TCP'].protocol",
		  NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("the order of shared list items is the applier's")
{
	static const struct {
		const char *live, *config, *result;
	} rows[] = {
		{ "['a','b','x']", "['b','a']", "['b','x','a']" },
		{ "['a','b']", "['n','b']", "['a','n','b']" },
		{ "['a','b']", "['b','n']", "['a','b','n']" },
		{ "[]", "['b','a']", "['b','a']" },
		{ "['a','b']", "[]", "['a','b']" },
		{ "['a','b','c']", "['c','b','a']", "['c','b','a']" },
		{ "['a','b','c']", "['a','n','c']", "['a','b','n','c']" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct apply_request req = { .kind = &sample_kind, .manager = "a", .now = 1 };
		json_t *live = sample_json("{'metadata':{},'spec':{}}"), *config = sample_json("{'spec':{}}");
		json_t *out = NULL;
		struct err e = ERR_INIT;

		jsonx_set_new(live, "spec.podCIDRs", sample_json(rows[i].live));
		jsonx_set_new(config, "spec.podCIDRs", sample_json(rows[i].config));
		CHECK_INT(apply_merge(&req, live, config, &out, &e), 0);
		CHECK_JSON(jsonx_at(out, "spec.podCIDRs"), rows[i].result);
		json_decref(live);
		json_decref(config);
		json_decref(out);
	}
}

TEST("an item leaves with everything in it, defaults included")
{
	static const struct step story[] = {
		{ APPLY, "a", "{'spec':{'containers':[{'name':'c'},{'name':'d'}]}}", NULL,
		  "a/Apply@1 .spec.containers[name='c'] .spec.containers[name='c'].name .spec.containers[name='d'] "
		  ".spec.containers[name='d'].name",
		  NULL },
		{ UPDATE, "default", "{'spec':{'containers':[{'name':'c','image':'i'},{'name':'d'}]}}", NULL,
		  "a/Apply@1 .spec.containers[name='c'] .spec.containers[name='c'].name "
		  ".spec.containers[name='d'] .spec.containers[name='d'].name; "
		  "default/Update@2 .spec.containers[name='c'].image",
		  NULL },
		{ APPLY, "a", "{'spec':{'containers':[{'name':'d'}]}}", NULL,
		  "a/Apply@3 .spec.containers[name='d'] .spec.containers[name='d'].name", NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("atomic maps and sets are owned whole and by member")
{
	static const struct step story[] = {
		{ APPLY, "a", "{'spec':{'nodeSelector':{'x':'1'},'podCIDRs':['p']}}", NULL,
		  "a/Apply@1 .spec.nodeSelector .spec.podCIDRs[='p']", NULL },
		{ APPLY, "b", "{'spec':{'nodeSelector':{'y':'1'}}}",
		  "{'spec':{'nodeSelector':{'x':'1'},'podCIDRs':['p']}}",
		  "a/Apply@1 .spec.nodeSelector .spec.podCIDRs[='p']",
		  "Apply failed with 1 conflict: conflict with \"a\": .spec.nodeSelector" },
		{ APPLY, "b", "{'spec':{'podCIDRs':['q']}}", "{'spec':{'nodeSelector':{'x':'1'},'podCIDRs':['p','q']}}",
		  "a/Apply@1 .spec.nodeSelector .spec.podCIDRs[='p']; b/Apply@3 .spec.podCIDRs[='q']", NULL },
		{ APPLY, "a", "{'spec':{'nodeSelector':{'z':'1'}}}",
		  "{'spec':{'nodeSelector':{'z':'1'},'podCIDRs':['q']}}",
		  "b/Apply@3 .spec.podCIDRs[='q']; a/Apply@4 .spec.nodeSelector", NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("what was there before the first apply has an owner too")
{
	static const struct step story[] = {
		{ UPDATE, "x", "{'metadata':{'managedFields':[{}]},'data':{'a':'1'}}", "{'data':{'a':'1'}}", "", NULL },
		{ UPDATE, "x", "{'data':{'a':'2'}}", NULL, "", NULL },
		{ APPLY, "a", "{'data':{'a':'3'}}", "{'data':{'a':'2'}}", "",
		  "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a" },
		{ APPLY, "a", "{'data':{'b':'1'}}", "{'data':{'a':'2','b':'1'}}",
		  "a/Apply@4 .data.b; before-first-apply/Update@4 .data .data.a", NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("[{}] forgets all managers and [] changes nothing")
{
	static const struct step story[] = {
		{ APPLY, "a", "{'data':{'x':'1'}}", NULL, "a/Apply@1 .data.x", NULL },
		{ UPDATE, "u", "{'metadata':{'managedFields':[]},'data':{'x':'1'}}", "{'data':{'x':'1'}}",
		  "a/Apply@1 .data.x", NULL },
		{ UPDATE, "u", "{'metadata':{'managedFields':[{'manager':'bad'}]},'data':{'x':'2'}}",
		  "{'data':{'x':'2'}}", "u/Update@3 .data.x", NULL },
		{ UPDATE, "u", "{'metadata':{'managedFields':[{}]},'data':{'x':'3'}}", "{'data':{'x':'3'}}", "", NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("a client may rewrite the record itself")
{
	static const struct step story[] = {
		{ APPLY, "a", "{'data':{'x':'1'}}", NULL, "a/Apply@1 .data.x", NULL },
		{ UPDATE, "u",
		  "{'metadata':{'managedFields':[{'manager':'m','operation':'Apply','apiVersion':'v1','fieldsType':"
		  "'FieldsV1','fieldsV1':{'f:data':{'f:x':{}}}}]},'data':{'x':'1'}}",
		  "{'data':{'x':'1'}}", "m/Apply@0 .data.x", NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("status has managers of its own")
{
	static const struct step story[] = {
		{ UPDATE, "c", "{'spec':{'replicas':1},'status':{'phase':'a'}}", NULL, "c/Update@1 .spec.replicas",
		  NULL },
		{ STATUS, "c", "{'spec':{'replicas':1},'status':{'phase':'b'}}", NULL,
		  "c/Update@1 .spec.replicas; c/Update/status@2 .status.phase", NULL },
		{ APPLY, "a", "{'status':{'phase':'z'}}", "{'spec':{'replicas':1},'status':{'phase':'b'}}",
		  "c/Update@1 .spec.replicas; c/Update/status@2 .status.phase", NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("kubectl takes over what it applied from the client side")
{
	static const struct step story[] = {
		{ UPDATE, "kubectl-client-side-apply",
		  "{'metadata':{'annotations':{'kubectl.kubernetes.io/last-applied-configuration':"
		  "'{`'data`':{`'x`':`'1`'}}'}},'data':{'x':'1','y':'1'}}",
		  NULL,
		  "kubectl-client-side-apply/Update@1 .metadata.annotations "
		  ".metadata.annotations.kubectl.kubernetes.io/last-applied-configuration .data .data.x .data.y",
		  NULL },
		{ APPLY, "kubectl", "{'data':{'x':'2'}}",
		  "{'metadata':{'annotations':{'kubectl.kubernetes.io/last-applied-configuration':"
		  "'{`'data`':{`'x`':`'2`'},`'apiVersion`':`'v1`',`'kind`':`'Sample`'}`n'}},'data':{'x':'2','y':'1'}}",
		  "kubectl/Apply@2 .data.x; "
		  "kubectl-client-side-apply/Update@1 .metadata.annotations "
		  ".metadata.annotations.kubectl.kubernetes.io/last-applied-configuration .data .data.y",
		  NULL },
		{ END },
	};

	tell(&sample_kind, story);
}

TEST("custom resources without a schema are owned key by key")
{
	static const struct kind custom = { .group = "x.io", .version = "v1", .kind = "C", .flags = KIND_CUSTOM };
	static const struct step story[] = {
		{ UPDATE, "u", "{'metadata':{'name':'n','labels':{'l':'1'}},'spec':{'a':{'b':1},'c':[1]}}", NULL,
		  "u/Update@1 .metadata.labels .metadata.labels.l .spec .spec.a .spec.a.b .spec.c", NULL },
		{ APPLY, "a", "{'spec':{'a':{'b':2}}}",
		  "{'metadata':{'name':'n','labels':{'l':'1'}},'spec':{'a':{'b':1},'c':[1]}}",
		  "u/Update@1 .metadata.labels .metadata.labels.l .spec .spec.a .spec.a.b .spec.c",
		  "Apply failed with 1 conflict: conflict with \"u\" using x.io/v1: .spec.a.b" },
		{ END },
	};

	tell(&custom, story);
}

TEST("each conflict is a cause with its path")
{
	struct apply_request req = { .kind = &sample_kind, .manager = "a", .now = 1 };
	json_t *obj = NULL, *out = NULL;
	json_t *one = sample_json("{'data':{'x':'1','y':'1'}}"), *two = sample_json("{'data':{'x':'2','y':'2'}}");
	struct err e = ERR_INIT;

	CHECK_INT(apply_merge(&req, NULL, one, &obj, &e), 0);
	req.manager = "b";
	CHECK_INT(apply_merge(&req, obj, two, &out, &e), -1);
	CHECK_INT(e.kind, ERR_CONFLICT);
	CHECK_INT(e.ncauses, 2);
	CHECK_INT(e.causes[1].kind, CAUSE_MANAGER);
	CHECK_STR(err_cause_field(&e, 0), ".data.x");
	CHECK_STR(err_cause_text(&e, 0), "conflict with \"a\"");
	CHECK(!out);
	json_decref(obj);
	json_decref(one);
	json_decref(two);
}

TEST("more than ten updaters become ancient changes")
{
	json_t *obj = NULL;
	char *record;

	for (int i = 0; i < 13; i++) {
		char name[16];
		struct apply_request req = { .kind = &sample_kind, .manager = name, .now = i + 1 };
		json_t *next = obj ? jsonx_copy(obj) : sample_json("{'data':{}}");

		snprintf(name, sizeof(name), "m%02d", i);
		json_object_set_new(json_object_get(next, "data"), name, json_string("1"));
		apply_track_update(&req, obj, next);
		json_decref(obj);
		obj = next;
	}
	record = record_of(obj);
	CHECK_INT(json_array_size(jsonx_at(obj, "metadata.managedFields")), 10);
	CHECK(strstr(record, "ancient-changes/Update@4 "));
	CHECK(strstr(record, ".data.m03") && strstr(record, ".data.m00"));
	CHECK(strstr(record, "; m04/Update@5 .data.m04; "));
	free(record);
	json_decref(obj);
}

TEST("applying the same again leaves every byte as it was")
{
	struct apply_request req = { .kind = &sample_kind, .manager = "a", .now = 1 };
	json_t *config =
		sample_json("{'apiVersion':'v1','kind':'Sample','metadata':{'name':'n'},'spec':{'ports':[{'port':1}],"
			    "'podCIDRs':['x','y'],'containers':[{'name':'c','args':['1']}]},'data':{'k':'v'}}");
	json_t *first = NULL, *stored, *again = NULL;
	struct err e = ERR_INIT;
	char *a, *b;

	CHECK_INT(apply_merge(&req, NULL, config, &first, &e), 0);
	stored = jsonx_copy(first);
	json_object_del(stored, "kind");
	json_object_del(stored, "apiVersion");
	json_object_set_new(json_array_get(jsonx_at(stored, "spec.ports"), 0), "protocol", json_string("TCP"));
	req.now = 99;
	CHECK_INT(apply_merge(&req, stored, config, &again, &e), 0);
	a = sample_text(stored);
	b = sample_text(again);
	CHECK_STR(b, a);
	free(a);
	free(b);
	json_decref(config);
	json_decref(first);
	json_decref(stored);
	json_decref(again);
}

TEST("items without a key of their own cannot be applied")
{
	static const char *const configs[] = {
		"{'spec':{'ports':[{'port':1},{'port':1,'protocol':'TCP'}]}}",
		"{'spec':{'containers':[{'image':'i'}]}}",
		"{'spec':{'containers':['x']}}",
		"{'spec':{'podCIDRs':['x','x']}}",
	};

	for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		struct apply_request req = { .kind = &sample_kind, .manager = "a", .now = 1 };
		json_t *config = sample_json(configs[i]);
		json_t *out = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(apply_merge(&req, NULL, config, &out, &e), -1);
		CHECK_INT(e.kind, ERR_BAD_REQUEST);
		CHECK(!out);
		json_decref(config);
	}
}
