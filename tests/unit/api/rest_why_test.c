// SPDX-License-Identifier: Apache-2.0
/* rest_why_test.c - questions to a scheduler that knows one work in each of two namespaces */
#include "base/jsonx.h"
#include "front.h"

#define WHY  "/apis/stoker.dev/v1/namespaces/default/why"
#define LINE "/apis/stoker.dev/v1/line"

static json_t *find(struct scheduler *s, const char *ns, const char *kind, const char *name)
{
	(void)s;
	if (!streq(ns, "default") || !streq(name, "train") || (kind && !streq(kind, "job")))
		return json_array();
	return json_pack("[s]", "uid-1");
}

static json_t *why(struct scheduler *s, const json_t *uids)
{
	(void)s;
	return json_pack("[{s:O, s:s}]", "uids", uids, "sentence", "first in queue batch");
}

static json_t *line(struct scheduler *s, const char *queue, size_t most)
{
	json_t *rows = json_array();

	(void)s;
	for (size_t i = 0; i < most && i < 2; i++)
		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:[s], s:[s], s:s, s:i, s:s}", "namespace",
						      i ? "kube-system" : "default", "name", "job/x", "user", "anna",
						      "queue", queue ? queue : "batch", "pods", "x", "uids", "u",
						      "sentence", "s", "gpus", 4, "help", "h"));
	return rows;
}

static const struct scheduler_ops ops = { .find = find, .why = why, .line = line };
static struct scheduler oracle = { .ops = &ops };

static json_t *answer(struct front *f, const char *request, const char *headers, int code)
{
	json_t *doc = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(front_ask(f, request, headers, NULL), code);
	jsonx_parse(f->body.p, f->body.n, NULL, NULL, &doc, &e);
	return doc;
}

TEST("why: a name leads to the scheduler's answer, and bad ones to an error")
{
	struct front f = front_new();
	json_auto_t *none = answer(&f, "GET " WHY "/train", "", 503);
	json_auto_t *doc = NULL;
	json_auto_t *missing = NULL;
	json_auto_t *other = NULL;
	json_auto_t *refused = NULL;

	rest_set_scheduler(f.rest, &oracle);
	doc = answer(&f, "GET " WHY "/train?kind=job", "", 200);
	CHECK_STR(jsonx_str(doc, "kind"), "WhyList");
	CHECK_STR(jsonx_str(json_array_get(json_object_get(doc, "items"), 0), "sentence"), "first in queue batch");
	missing = answer(&f, "GET " WHY "/nobody", "", 404);
	CHECK_STR(jsonx_str(missing, "message"),
		  "nothing that waits or runs in namespace \"default\" is called \"nobody\"");
	other = answer(&f, "GET " WHY "/train?kind=pod", "", 404);
	refused = answer(&f, "GET " WHY "/train", "Impersonate-User: eve\r\n", 403);
	CHECK(none && other && refused);
	front_done(&f);
}

TEST("line: everyone may read it, but names only where one may list pods")
{
	struct front f = front_new();
	json_auto_t *admin = NULL;
	json_auto_t *eve = NULL;
	json_auto_t *one = NULL;
	json_auto_t *bad = NULL;
	json_auto_t *zero = NULL;
	json_auto_t *unknown = NULL;

	rest_set_scheduler(f.rest, &oracle);
	server_do(&f.s, VERB_CREATE, "rbac.authorization.k8s.io/v1/rolebindings", "default", NULL,
		  "{'metadata':{'name':'see'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole',"
		  "'name':'view'},'subjects':[{'kind':'User','apiGroup':'rbac.authorization.k8s.io','name':'eve'}]}");
	admin = answer(&f, "GET " LINE "?queue=night", "", 200);
	CHECK_STR(jsonx_str(json_array_get(json_object_get(admin, "items"), 1), "name"), "job/x");
	CHECK_STR(jsonx_str(json_array_get(json_object_get(admin, "items"), 1), "queue"), "night");
	eve = answer(&f, "GET " LINE, "Impersonate-User: eve\r\nImpersonate-Group: system:authenticated\r\n", 200);
	CHECK_STR(jsonx_str(json_array_get(json_object_get(eve, "items"), 0), "name"), "job/x");
	auto_free char *hidden = sample_text(json_array_get(json_object_get(eve, "items"), 1));
	CHECK_STR(hidden, "{'user':'anna','queue':'batch','gpus':4}");
	one = answer(&f, "GET " LINE "?limit=1", "", 200);
	CHECK_INT(json_array_size(json_object_get(one, "items")), 1);
	bad = answer(&f, "GET " LINE "?limit=many", "", 400);
	CHECK_STR(jsonx_str(bad, "message"), "limit: Invalid value: \"many\": must be a number from 1 to 100000");
	zero = answer(&f, "GET " LINE "?limit=0", "", 400);
	unknown = answer(&f, "GET " LINE "/more", "", 404);
	CHECK(zero && unknown);
	CHECK_INT(front_ask(&f, "POST " LINE, "", "{}"), 405);
	front_done(&f);
}
