// SPDX-License-Identifier: Apache-2.0
#include "kinds/selector.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "test.h"

static json_t *parse(const char *s)
{
	struct err e = ERR_INIT;
	json_t *v = NULL;

	if (jsonx_parse(s, strlen(s), NULL, NULL, &v, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", s, e.text);
	return v;
}

TEST("label selectors match as Kubernetes matches them and print canonically")
{
	static const struct {
		const char *text, *labels, *canonical;
		bool match;
	} rows[] = {
		{ "", "{}", "", true },
		{ "  ", "{}", "", true },
		{ "a=b", "{\"a\":\"b\"}", "a=b", true },
		{ "a == b", "{\"a\":\"c\"}", "a=b", false },
		{ "a=", "{\"a\":\"\"}", "a=", true },
		{ "a!=b", "{}", "a!=b", true },
		{ "a!=b", "{\"a\":\"b\"}", "a!=b", false },
		{ "a", "{\"a\":\"\"}", "a", true },
		{ "!a", "{}", "!a", true },
		{ "! a", "{\"a\":\"x\"}", "!a", false },
		{ "c in (e,d),a", "{\"a\":\"\",\"c\":\"d\"}", "a,c in (d,e)", true },
		{ "a in (b)", "{}", "a in (b)", false },
		{ "a in ()", "{\"a\":\"\"}", "a in ()", true },
		{ "a notin (b,c)", "{}", "a notin (b,c)", true },
		{ "a notin (b,c)", "{\"a\":\"c\"}", "a notin (b,c)", false },
		{ "in in (in)", "{\"in\":\"in\"}", "in in (in)", true },
		{ "a>1", "{\"a\":\"2\"}", "a>1", true },
		{ "a>1", "{\"a\":\"1\"}", "a>1", false },
		{ "a<1", "{\"a\":\"x\"}", "a<1", false },
		{ "x/y.z=1,b", "{\"x/y.z\":\"1\",\"b\":\"\"}", "b,x/y.z=1", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf text = SBUF(1000);
		json_auto_t *labels = parse(rows[i].labels);
		struct selector *s = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(selector_parse_labels(rows[i].text, &s, &e), 0);
		CHECK_STR(e.text, "");
		CHECK_INT(selector_match_labels(s, labels), rows[i].match);
		selector_text(s, &text);
		CHECK_STR(sbuf_str(&text).p, rows[i].canonical);
		CHECK_INT(selector_is_everything(s), rows[i].canonical[0] == '\0');
		selector_free(s);
	}
	CHECK(selector_is_everything(NULL) && selector_match_labels(NULL, NULL));
}

TEST("bad label selectors say what is wrong and where")
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ ",", "unable to parse requirement: found ',' at column 1, expected: !, identifier" },
		{ "a,", "unable to parse requirement: found '' at column 3, expected: !, identifier" },
		{ "a b", "unable to parse requirement: found 'b' at column 3, expected: in, notin, =, ==, !=, >, <" },
		{ "a in b", "unable to parse requirement: found 'b' at column 6, expected: '('" },
		{ "a in (b", "unable to parse requirement: found '' at column 8, expected: ',' or ')'" },
		{ "a=b c", "unable to parse requirement: found 'c' at column 5, expected: ',' or end of text" },
		{ "!", "unable to parse requirement: found '' at column 2, expected: identifier" },
		{ "a>b",
		  "unable to parse requirement: values[0][a]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the "
		  "value must be an integer" },
	};
	auto_sbuf struct sbuf many = SBUF(10000);
	struct selector *s = NULL;
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		err_clear(&e);
		CHECK(selector_parse_labels(rows[i].text, &s, &e) < 0);
		CHECK_INT(e.kind, ERR_BAD_REQUEST);
		CHECK_STR(e.text, rows[i].error);
	}
	CHECK(selector_parse_labels("a/b/c=d", &s, &e) < 0);
	CHECK(selector_parse_labels("a=-", &s, &e) < 0);
	for (int i = 0; i <= LIMIT_SELECTOR_TERMS; i++)
		sbuf_addf(&many, "%sa", i ? "," : "");
	CHECK(selector_parse_labels(many.p, &s, &e) < 0);
	CHECK(s == NULL);
}

static const struct selectable pod_fields[] = {
	{ "status.phase", "status.phase", NULL },
	{ "spec.host", "spec.nodeName", NULL },
	{ "spec.hostNetwork", "spec.hostNetwork", "false" },
	{ "status.replicas", "status.replicas", "0" },
};
static const struct kind pods = {
	.group = "",
	.version = "v1",
	.kind = "Pod",
	.plural = "pods",
	.namespaced = true,
	.selectable = pod_fields,
	.nselectable = ARRAY_SIZE(pod_fields),
};

TEST("field selectors compare texts and know only the kind's fields")
{
	static const struct {
		const char *text;
		bool match;
	} rows[] = {
		{ "", true },
		{ "metadata.name=x", true },
		{ "metadata.name==x", true },
		{ "metadata.name!=x", false },
		{ "metadata.namespace=n,metadata.name=x", true },
		{ "status.phase=Running", true },
		{ "status.phase!=Failed", true },
		{ "spec.host=node-1", true },
		{ "spec.hostNetwork=false", true },
		{ "spec.hostNetwork=true", false },
		{ "status.replicas=3", true },
		{ "status.phase=a\\,b", false },
		{ ",metadata.name=x,", true },
	};
	json_auto_t *pod =
		parse("{\"metadata\":{\"name\":\"x\",\"namespace\":\"n\"},\"spec\":{\"nodeName\":\"node-1\"},"
		      "\"status\":{\"phase\":\"Running\",\"replicas\":3}}");
	struct kind cluster = pods;
	struct err e = ERR_INIT;
	struct selector *s = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_INT(selector_parse_fields(rows[i].text, &pods, &s, &e), 0);
		CHECK_INT(selector_match_fields(s, pod), rows[i].match);
		selector_free(s);
	}
	CHECK(selector_parse_fields("spec.color=red", &pods, &s, &e) < 0);
	CHECK_STR(e.text, "field label not supported: spec.color");
	CHECK_INT(e.kind, ERR_BAD_REQUEST);
	CHECK(selector_parse_fields("metadata.name", &pods, &s, &e) < 0);
	CHECK(selector_parse_fields("metadata.name=a\\b", &pods, &s, &e) < 0);
	cluster.namespaced = false;
	CHECK(selector_parse_fields("metadata.namespace=a", &cluster, &s, &e) < 0);
}

TEST("a list can see the one name a field selector asks for")
{
	struct err e = ERR_INIT;
	struct selector *s = NULL;

	CHECK_INT(selector_parse_fields("status.phase!=x,metadata.name=a\\=b", &pods, &s, &e), 0);
	CHECK_STR(selector_field_equals(s, "metadata.name"), "a=b");
	CHECK_STR(selector_field_equals(s, "status.phase"), NULL);
	CHECK_STR(selector_field_equals(NULL, "status.phase"), NULL);
	selector_free(s);
}

TEST("LabelSelector objects become the same selectors")
{
	json_auto_t *v = parse("{\"matchLabels\":{\"b\":\"c\",\"a\":\"\"},\"matchExpressions\":["
			       "{\"key\":\"d\",\"operator\":\"In\",\"values\":[\"y\",\"x\"]},"
			       "{\"key\":\"e\",\"operator\":\"DoesNotExist\"}]}");
	json_auto_t *none = json_object();
	json_auto_t *labels = parse("{\"a\":\"\",\"b\":\"c\",\"d\":\"x\"}");
	auto_sbuf struct sbuf text = SBUF(1000);
	struct err e = ERR_INIT;
	struct selector *s = NULL;

	CHECK_INT(selector_from_json(v, &s, &e), 0);
	selector_text(s, &text);
	CHECK_STR(text.p, "a=,b=c,d in (x,y),!e");
	CHECK(selector_match_labels(s, labels) && !selector_match_labels(s, none));
	selector_free(s);
	CHECK_INT(selector_from_json(none, &s, &e), 0);
	CHECK(selector_is_everything(s) && selector_match_labels(s, NULL));
	selector_free(s);
	CHECK_INT(selector_from_json(NULL, &s, &e), 0);
	CHECK(!selector_is_everything(s) && !selector_match_labels(s, labels));
	selector_free(s);
}

TEST("wrong LabelSelector objects are refused")
{
	static const char *const wrong[] = {
		"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Near\"}]}",
		"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}",
		"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"x\"]}]}",
		"{\"matchExpressions\":[{\"operator\":\"Exists\"}]}",
		"{\"matchLabels\":{\"a b\":\"c\"}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		json_auto_t *v = parse(wrong[i]);
		struct err e = ERR_INIT;
		struct selector *s = NULL;

		CHECK(selector_from_json(v, &s, &e) < 0);
		CHECK(s == NULL && e.text[0]);
	}
}

TEST("a glance at the text rules out only what cannot match")
{
	static const char text[] = "{\"metadata\":{\"labels\":{\"app\":\"web\",\"tier\":\"front\"}}}";
	static const struct {
		const char *selector;
		bool may;
	} rows[] = {
		{ "", true },
		{ "app=web", true },
		{ "app=db", false },
		{ "app!=db", true },
		{ "zone", false },
		{ "!zone", true },
		{ "app in (web,x)", true },
		{ "zone in (web)", false },
		{ "zone notin (a)", true },
		{ "app=front", true /* decided later, on the object */ },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct selector *s = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(selector_parse_labels(rows[i].selector, &s, &e), 0);
		CHECK_INT(selector_may_match(s, STR(text)), rows[i].may);
		selector_free(s);
	}
}

TEST("a field that must not have its default is not without one")
{
	static const struct {
		const char *text;
		bool may;
	} rows[] = {
		{ "{\"metadata\":{\"name\":\"nodeName\"},\"spec\":{\"restartPolicy\":\"Never\"}}", false },
		{ "{\"metadata\":{},\"spec\":{\"nodeName\":\"n\"}}", true },
		{ "{\"metadata\":{},\"spec\":{\"nodeName\":\"\"}}", true /* decided later, on the object */ },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct selector *s = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(selector_parse_fields("spec.nodeName!=", &kind_pod, &s, &e), 0);
		CHECK_INT(selector_may_match(s, str_of(rows[i].text)), rows[i].may);
		selector_free(s);
	}
}
