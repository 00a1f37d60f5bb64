// SPDX-License-Identifier: Apache-2.0
#include "kinds/queue.h"

#include "api/sample_json.h"
#include "base/mem.h"
#include "test.h"

/* "ben" is in vision and lab. */
static bool in_group(void *arg, const char *group)
{
	(void)arg;
	return streq(group, "vision") || streq(group, "lab");
}

TEST("a queue's lists let in, keep out, and say which of them does")
{
	static const struct {
		const char *acl, *why; /* why NULL: allowed */
	} rows[] = {
		{ "{}", NULL },
		{ "{'users':[]}", NULL },
		{ "{'users':['anna','ben']}", NULL },
		{ "{'users':['anna','+ben@host']}", NULL },
		{ "{'users':['anna']}", "user ben is not in acl.users" },
		{ "{'users':['bennet','be']}", "user ben is not in acl.users" },
		{ "{'users':['-carl']}", NULL },
		{ "{'users':['-ben','-carl']}", "user ben is kept out by acl.users" },
		{ "{'users':['-ben','*']}", "user ben is kept out by acl.users" },
		{ "{'users':['*','-ben']}", NULL },
		{ "{'users':['-*@elsewhere','-ben','ben']}", "user ben is kept out by acl.users" },
		{ "{'users':['*','-carl']}", NULL },
		{ "{'groups':['vision']}", NULL },
		{ "{'groups':['speech']}", "user ben is in no group of acl.groups" },
		{ "{'groups':['-lab']}", "user ben is in a group kept out by acl.groups" },
		{ "{'users':['ben'],'groups':['speech']}", "user ben is in no group of acl.groups" },
		{ "{'users':['ben'],'groups':['speech'],'anyOf':true}", NULL },
		{ "{'users':['anna'],'groups':['lab'],'anyOf':true}", NULL },
		{ "{'users':['anna'],'anyOf':true}", "user ben is not in acl.users" },
		{ "{'users':['anna'],'groups':['-lab'],'anyOf':true}",
		  "user ben is in a group kept out by acl.groups" },
		{ "{'users':['anna'],'groups':['speech'],'anyOf':true}",
		  "user ben is not in acl.users and user ben is in no group of acl.groups" },
		{ "{'hosts':['elsewhere']}", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct queue_visitor ben = { .user = "ben", .in_group = in_group };
		auto_sbuf struct sbuf why = SBUF(500);
		json_auto_t *acl = sample_json(rows[i].acl);

		CHECK_INT(queue_acl_allows(acl, &ben, &why), !rows[i].why);
		if (rows[i].why)
			CHECK_STR(why.p, rows[i].why);
	}
	CHECK(queue_acl_allows(NULL, &(struct queue_visitor){ .user = "ben" }, &SBUF(100)));
}
