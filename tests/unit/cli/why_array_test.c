// SPDX-License-Identifier: Apache-2.0
#include "cli/why_array.h"

#include "base/mem.h"
#include "test.h"

/* With ' for ". */
static json_t *from_text(const char *text)
{
	auto_free char *json = xstrdup(text);

	for (char *c = json; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return json_loads(json, 0, NULL);
}

TEST("of an array's elements those are left that neither run nor have ended nor were spoken of")
{
	static const struct {
		const char *job, *items, *want;
	} rows[] = {
		{ "{'spec':{'array':{'request':'0-9'}}}", "[]", "0-9" },
		{ "{'spec':{'array':{'request':'0-9'}},'status':{'elements':{'R':'2','C:0':'0-1'}}}",
		  "[{'name':'pbsjob/5[3]'},{'name':'pbsjob/5[2]'}]", "4-9" },
		{ "{'spec':{'array':{'request':'1,5,7'}},'status':{'elements':{'C:271':'5'}}}",
		  "[{'name':'pbsjob/5[1]'},{'name':'pod/x'},{'name':'pbsjob/5[x]'}]", "7" },
		{ "{'spec':{}}", "[]", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *job = from_text(rows[i].job);
		json_auto_t *items = from_text(rows[i].items);
		auto_sbuf struct sbuf text = SBUF(256);
		struct pbs_set left = { 0 };

		why_array_silent(job, items, &left);
		pbs_set_text(&left, &text);
		CHECK_STR(text.p ? text.p : "", rows[i].want);
		pbs_set_done(&left);
	}
}
