// SPDX-License-Identifier: Apache-2.0
#include "kinds/pbs_element.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static json_t *loose(const char *text)
{
	auto_free char *copy = xstrdup(text);
	json_t *v;

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	v = json_loads(copy, JSON_DECODE_ANY, NULL);
	if (!v)
		test_fail(__FILE__, __LINE__, "%s", copy);
	return v;
}

static char *text_of(const json_t *v)
{
	char *text = json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

	for (char *c = text; *c; c++)
		*c = *c == '"' ? '\'' : *c;
	return text;
}

#define SPEC                                                                                                           \
	"{'name':'a','hold':'u','resources':{'nodes':'1','walltime':'60'},'array':{'request':'0-9'},'elementHold':"    \
	"'8','elements':[{'indexes':'2-4','priority':5,'resources':{'walltime':'90'}},{'indexes':'6','hold':'o'}]}"

TEST("an element has what its array has, but for what it has itself")
{
	static const struct {
		int index;
		const char *want;
	} rows[] = {
		{ 3, "['a','u','1','90',5]" },
		{ 5, "['a','u','1','60',null]" },
		{ 6, "['a','u','1','60',null]" },
		{ -1, "['a','u','1','60',null]" },
	};
	json_auto_t *job = json_pack("{s:o}", "spec", loose(SPEC));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *view = pbs_element_view(job, rows[i].index);
		const json_t *spec = json_object_get(view, "spec");
		json_auto_t *all = json_pack("[O,O,O,O,O?]", json_object_get(spec, "name"),
					     json_object_get(spec, "hold"), jsonx_at(spec, "resources.nodes"),
					     jsonx_at(spec, "resources.walltime"), json_object_get(spec, "priority"));
		auto_free char *got = text_of(all);

		CHECK_STR(got, rows[i].want);
		CHECK_INT(view == job, rows[i].index < 0 || rows[i].index == 5);
	}
}

TEST("elements are changed entry by entry, and no index is in two of them")
{
	static const struct {
		const char *list, *elements, *changes, *want;
	} rows[] = {
		{ "[]", "3", "{'priority':1}", "[{'indexes':'3','priority':1}]" },
		{ "[{'indexes':'3','priority':1}]", "5", "{'priority':1}", "[{'indexes':'3,5','priority':1}]" },
		{ "[{'indexes':'2-4','priority':1}]", "3", "{'priority':2}",
		  "[{'indexes':'2,4','priority':1},{'indexes':'3','priority':2}]" },
		{ "[{'indexes':'2-4','priority':1}]", "4-5", "{'suspend':true}",
		  "[{'indexes':'2-3','priority':1},{'indexes':'4','priority':1,'suspend':true},{'indexes':'5',"
		  "'suspend':true}]" },
		{ "[{'indexes':'2-4','priority':1,'suspend':true}]", "3", "{'suspend':null}",
		  "[{'indexes':'2,4','priority':1,'suspend':true},{'indexes':'3','priority':1}]" },
		{ "[{'indexes':'2-4','suspend':true}]", "0-9", "{'suspend':null}", "null" },
		{ "[{'indexes':'2','resources':{'mem':'1gb','walltime':'5'}}]", "2-3",
		  "{'resources':{'walltime':'7','mem':null}}", "[{'indexes':'2-3','resources':{'walltime':'7'}}]" },
		{ "[{'indexes':'2','mail':{'points':'b'}}]", "2", "{'mail':{'users':['x']}}",
		  "[{'indexes':'2','mail':{'points':'b','users':['x']}}]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *list = loose(rows[i].list);
		json_auto_t *changes = loose(rows[i].changes);
		struct pbs_set set = { 0 };
		json_auto_t *out = NULL;
		auto_free char *got = NULL;

		pbs_element_read(rows[i].elements, &set);
		out = pbs_element_change(list, &set, changes);
		got = text_of(out);
		CHECK_STR(got, rows[i].want);
		pbs_set_done(&set);
	}
}

TEST("holds of single elements are letters that come and go")
{
	static const struct {
		const char *list, *elements, *letters, *want;
		bool release;
	} rows[] = {
		{ "[]", "3", "uo", "[{'hold':'o','indexes':'3'}]", false },
		{ "[{'hold':'o','indexes':'2-3'}]", "3-4", "s",
		  "[{'hold':'o','indexes':'2'},{'hold':'os','indexes':'3'},{'hold':'s','indexes':'4'}]", false },
		{ "[{'hold':'os','indexes':'3'}]", "3", "o", "[{'hold':'s','indexes':'3'}]", true },
		{ "[{'hold':'o','indexes':'3'}]", "3-4", "uos", "null", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *list = loose(rows[i].list);
		struct pbs_set set = { 0 };
		json_auto_t *out = NULL;
		auto_free char *got = NULL;

		pbs_element_read(rows[i].elements, &set);
		out = pbs_element_hold(list, &set, rows[i].letters, rows[i].release);
		got = text_of(out);
		CHECK_STR(got, rows[i].want);
		pbs_set_done(&set);
	}
}

TEST("what is said of the whole array holds for its elements, too")
{
	static const struct {
		const char *path, *value, *want;
	} rows[] = {
		{ "priority", "7", "[{'indexes':'2-4','resources':{'walltime':'90'}},{'hold':'o','indexes':'6'}]" },
		{ "resources.walltime", "'70'", "[{'indexes':'2-4','priority':5},{'hold':'o','indexes':'6'}]" },
		{ "resources.mem", "'1gb'",
		  "[{'indexes':'2-4','priority':5,'resources':{'walltime':'90'}},{'hold':'o','indexes':'6'}]" },
		{ "hold", "'n'",
		  "[{'indexes':'2-4','priority':5,'resources':{'walltime':'90'}},{'hold':'o','indexes':'6'}]" },
		/* Both at once: as they were written. */
		{ "elements", "[{'indexes':'2','priority':1}]", "[{'indexes':'2','priority':1}]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *was = loose(SPEC);
		json_auto_t *spec = jsonx_copy(was);
		auto_free char *got = NULL;

		jsonx_set_new(spec, rows[i].path, loose(rows[i].value));
		pbs_element_overrule(spec, was);
		got = text_of(json_object_get(spec, "elements"));
		CHECK_STR(got, rows[i].want);
	}
}

TEST("elements that are held one by one")
{
	json_auto_t *spec = loose(SPEC);
	auto_sbuf struct sbuf text = SBUF(100);
	struct pbs_set held = { 0 };

	pbs_element_held(spec, &held);
	pbs_set_text(&held, &text);
	pbs_set_done(&held);
	CHECK_STR(text.p, "6,8");
}
