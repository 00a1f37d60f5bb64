// SPDX-License-Identifier: Apache-2.0
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_error.h"
#include "kinds/pbs_nodes.h"
#include "kinds/rest.h"
#include "pbs/qmgr_print.h"
#include "test.h"

/* A command as one line: VERB OBJECT names|name.resource OP value|... */
static void describe(const struct qmgr_command *c, struct sbuf *out)
{
	static const char *const ops[] = { "=", "+=", "-=", "" };

	sbuf_addf(out, "%d/%d", c->verb, c->object);
	for (size_t i = 0; i < c->nnames; i++)
		sbuf_addf(out, "%c%s", i ? ',' : ' ', c->names[i]);
	for (size_t i = 0; i < c->nitems; i++) {
		const struct qmgr_item *m = &c->items[i];

		sbuf_addf(out, "|%s%s%s%s%s", m->name, m->resource ? "." : "", m->resource ? m->resource : "",
			  ops[m->op], m->value ? m->value : "");
	}
}

TEST("commands are read, in full and cut short")
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "create queue batch", "2/2 batch" },
		{ "c q a,b", "2/2 a,b" },
		{ "c q a, b queue_type=execution", "2/2 a,b|queue_type=execution" },
		{ "CREATE QUEUE x", "2/2 x" },
		{ "s q batch enabled=t", "4/2 batch|enabled=t" },
		{ "set queue batch resources_default.walltime = 1:00:00",
		  "4/2 batch|resources_default.walltime=1:00:00" },
		{ "set server managers += root@h", "4/1|managers+=root@h" },
		{ "set server managers -= root@h", "4/1|managers-=root@h" },
		{ "set server default scheduling = True", "4/1 default|scheduling=True" },
		{ "s s a=1,b=2 , c = 3", "4/1|a=1|b=2|c=3" },
		{ "s q q acl_users = alice,bob", "4/2 q|acl_users=alice,bob" },
		{ "s q q acl_users = alice , bob, max_running=3", "4/2 q|acl_users=alice,bob|max_running=3" },
		{ "s q q acl_users = \"alice,bob=1\",x=2", "4/2 q|acl_users=alice,bob=1|x=2" },
		{ "s s comment = 'a b; c'", "4/1|comment=a b; c" },
		{ "s s comment = \"it's\"", "4/1|comment=it's" },
		{ "s s comment = \"a\"'\"'\"b\"", "4/1|comment=a\"b" },
		{ "s s comment = \"\"", "4/1|comment=" },
		{ "s s comment =", "4/1|comment=" },
		{ "s q q resources_default.nodes = 1:ppn=2:S", "4/2 q|resources_default.nodes=1:ppn=2:S" },
		{ "s n node-1 np = 4", "4/3 node-1|np=4" },
		{ "s n a.b.c,d properties += S", "4/3 a.b.c,d|properties+=S" },
		{ "unset queue batch max_running, resources_max.mem", "5/2 batch|max_running|resources_max.mem" },
		{ "unset server comment", "5/1|comment" },
		{ "u q max_running", "5/2|max_running" },
		{ "l q @default", "6/2 @default" },
		{ "list queue", "6/2" },
		{ "list queue batch enabled,started", "6/2 batch|enabled|started" },
		{ "list server default_queue", "6/1|default_queue" },
		{ "p s", "7/1" },
		{ "print server @default", "7/1 @default" },
		{ "p n G101,G102", "7/3 G101,G102" },
		{ "active queue batch", "1/2 batch" },
		{ "a", "1/0" },
		{ "delete queue a@srv", "3/2 a@srv" },
		{ "quit", "9/0" },
		{ "exit", "9/0" },
		{ "?", "8/0" },
		{ "h set", "8/0" },
		{ "", "0/0" },
		{ "  # a comment", "0/0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_qmgr_command struct qmgr_command c = { 0 };
		auto_sbuf struct sbuf got = SBUF(4096);
		struct err e = ERR_INIT;
		size_t at;

		if (qmgr_parse(str_of(rows[i].text), &c, &at, &e) < 0)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].text, e.text);
		describe(&c, &got);
		CHECK_STR(got.p, rows[i].want);
	}
}

TEST("what is no command is refused where it is wrong")
{
	static const struct {
		const char *text;
		size_t at;
		const char *why;
	} rows[] = {
		{ "frob queue x", 0, "Illegal operation: frob" },
		{ "set", 3, "Illegal object type: " },
		{ "set job x", 4, "Illegal object type: job x" },
		{ "create queue", 12, "a name is missing" },
		{ "create queue a,", 15, "a name is missing" },
		{ "set queue batch", 15, "an attribute is missing" },
		{ "set queue batch enabled", 23, "=, += or -= is missing" },
		{ "set queue batch enabled = a b", 28, "a comma or the end of the command is missing" },
		{ "set server comment = \"a", 22, "a quote is not closed" },
		{ "set server x. = 1", 11, "" },
		{ "set server resources_max.=1", 25, "the name of an attribute is missing" },
		{ "unset server resources_max.", 27, "the name of a resource is missing" },
		{ "delete queue a b", 15, "nothing more is expected" },
		{ "unset queue", 11, "an attribute is missing" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct qmgr_command c = { 0 };
		struct err e = ERR_INIT;
		size_t at = 0;

		CHECK_INT(qmgr_parse(str_of(rows[i].text), &c, &at, &e), -1);
		if (*rows[i].why) {
			CHECK_STR(e.text, rows[i].why);
			CHECK_INT(at, rows[i].at);
		}
	}
}

TEST("a line has several commands, and ends at a comment")
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{ "a;b", "a|b|" },
		{ " a ; b ;", "a |b |" },
		{ "s 'x;y';z", "s 'x;y'|z|" },
		{ "a; # b; c", "a|" },
		{ "# a; b", "" },
		{ "", "" },
		{ "a;;b", "a||b|" },
		{ "s \"a';\";b", "s \"a';\"|b|" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(1000);
		struct str line = str_of(rows[i].line), part;

		while (qmgr_cut(&line, &part))
			sbuf_addf(&got, "%.*s|", STR_FMT(part));
		CHECK_STR(got.p ? got.p : "", rows[i].want);
	}
}

/* Does what the lines say to an object. */
static int say(enum qmgr_object kind, json_t *object, const char *lines, struct err *e)
{
	struct str rest = str_of(lines), line;

	while (str_split(&rest, '\n', &line)) {
		auto_qmgr_command struct qmgr_command c = { 0 };
		size_t at;

		if (qmgr_parse(line, &c, &at, e) < 0)
			return -1;
		for (size_t i = 0; i < c.nitems; i++)
			if (setting_write(qmgr_settings(kind), object, c.items[i].name, c.items[i].resource,
					  c.items[i].op, c.items[i].value, e) < 0)
				return -1;
	}
	return 0;
}

static char *print(enum qmgr_object kind, const json_t *object)
{
	const struct qmgr_command all = { 0 };
	auto_sbuf struct sbuf out = SBUF(1 << 20);

	qmgr_print(kind, object, &all, &out);
	return sbuf_steal(&out);
}

static json_t *named(const char *name)
{
	return json_pack("{s:{s:s}}", "metadata", "name", name);
}

TEST("a queue is printed as it was said")
{
	static const char text[] = "#\n# Create and define queue q\n#\n"
				   "create queue q\n"
				   "set queue q queue_type = Route\n"
				   "set queue q max_queuable = 10\n"
				   "set queue q max_running = 5\n"
				   "set queue q acl_user_enable = True\n"
				   "set queue q acl_users = alice\n"
				   "set queue q acl_users += -bob@h\n"
				   "set queue q acl_groups = lab\n"
				   "set queue q acl_host_enable = True\n"
				   "set queue q resources_max.walltime = 24:00:00\n"
				   "set queue q resources_max.nodect = 8\n"
				   "set queue q resources_max.mem = 64gb\n"
				   "set queue q resources_default.neednodes = gpu:big\n"
				   "set queue q disallowed_types = interactive\n"
				   "set queue q disallowed_types += job_array\n"
				   "set queue q enabled = True\n"
				   "set queue q started = False\n"
				   "set queue q resources_available.mem = 1tb\n"
				   "set queue q route_retry_time = 30\n"
				   "set queue q weight = 3\n"
				   "set queue q containers = required\n"
				   "set queue q image = bit:5000/deepo_9\n";
	json_auto_t *queue = named("q");
	auto_free char *got = NULL;
	struct err e = ERR_INIT;

	if (say(QMGR_QUEUE, queue, text, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	got = print(QMGR_QUEUE, queue);
	CHECK_STR(got, text);
	CHECK_STR(jsonx_str(queue, "spec.type"), "Execution"); /* it leads nowhere yet */
	CHECK_STR(json_string_value(json_array_get(jsonx_at(queue, "spec.acl.hosts"), 0)), ACL_NOBODY);
	CHECK(!jsonx_at(queue, "spec.acl.groups")); /* not enabled */
	CHECK_INT(say(QMGR_QUEUE, queue, "set queue q route_destinations = a,b\nset queue q acl_group_enable = y", &e),
		  0);
	CHECK_STR(jsonx_str(queue, "spec.type"), "Route");
	CHECK_INT(json_array_size(jsonx_at(queue, "spec.acl.groups")), 1);
	CHECK_INT(say(QMGR_QUEUE, queue, "unset queue q route_destinations\nunset queue q acl_user_enable", &e), 0);
	CHECK_STR(jsonx_str(queue, "spec.type"), "Execution");
	CHECK(!jsonx_at(queue, "spec.acl.users"));
	CHECK_STR(setting_kept(queue, "acl_users"), "alice,-bob@h");
}

TEST("a default queue that is unset is not given back by the server")
{
	json_auto_t *server = named("default");
	auto_free char *got = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(say(QMGR_SERVER, server, "set server default_queue = batch\nunset server default_queue", &e), 0);
	CHECK_STR(jsonx_str(server, "spec.defaultQueue"), "");
	got = print(QMGR_SERVER, server);
	CHECK(!strstr(got, "default_queue"));
}

TEST("a node is printed as it was said, its own name left out")
{
	json_auto_t *node = named("g1"); /* Kubernetes has no capital letters */
	auto_free char *got = NULL;
	struct err e = ERR_INIT;

	jsonx_set_new(node, "metadata.annotations", json_pack("{s:s}", PBS_HOST_ANNOTATION, "G1"));
	jsonx_set_new(node, "metadata.labels",
		      json_pack("{s:s,s:s}", PBS_PROPERTY_LABEL "G1", "", PBS_PROPERTY_LABEL "g1", ""));
	CHECK_INT(say(QMGR_NODE, node, "set node G1 state = offline,np=16,properties=\"S,D\",note='a b'", &e), 0);
	got = print(QMGR_NODE, node);
	CHECK_STR(got, "#\n# Create and define node G1\n#\ncreate node G1\nset node G1 state = offline\n"
		       "set node G1 np = 16\nset node G1 properties = S\nset node G1 properties += D\n"
		       "set node G1 note = \"a b\"\n");
	CHECK_INT(say(QMGR_NODE, node, "set node G1 state -= offline, properties -= S", &e), 0);
	CHECK(!jsonx_at(node, "spec.unschedulable"));
	CHECK_INT(json_object_size(jsonx_at(node, "metadata.labels")), 3);
}

TEST("refusals have PBS's numbers")
{
	static const struct {
		enum qmgr_object kind;
		const char *text;
		int number;
	} rows[] = {
		{ QMGR_QUEUE, "s q q colour = red", PBSE_NOATTR },
		{ QMGR_QUEUE, "s q q total_jobs = 3", PBSE_NOATTR },
		{ QMGR_QUEUE, "s q q resources_max = 3", PBSE_NOATTR },
		{ QMGR_QUEUE, "s q q enabled.x = 3", PBSE_NOATTR },
		{ QMGR_QUEUE, "s q q enabled = maybe", PBSE_BADATVAL },
		{ QMGR_QUEUE, "s q q enabled += true", PBSE_BADATVAL },
		{ QMGR_QUEUE, "s q q max_running = 1x", PBSE_BADATVAL },
		{ QMGR_QUEUE, "s q q queue_type = push", PBSE_BADATVAL },
		{ QMGR_QUEUE, "s q q resources_max.walltime = soon", PBSE_BADATVAL },
		{ QMGR_QUEUE, "s q q resources_max.mem = x", PBSE_BADATVAL },
		{ QMGR_QUEUE, "s q q resources_max.colour = x", PBSE_UNKRESC },
		{ QMGR_QUEUE, "s q q resources_default.neednodes = 2:gpu", PBSE_BADATVAL },
		{ QMGR_QUEUE, "s q q resources_default.neednodes = gpu:ppn=2", PBSE_BADATVAL },
		{ QMGR_QUEUE, "s q q resources_default.neednodes = a+b", PBSE_BADATVAL },
		{ QMGR_QUEUE, "s q q resources_max.neednodes = gpu", PBSE_BADATVAL },
		{ QMGR_SERVER, "s s resources_default.neednodes = gpu", PBSE_BADATVAL },
		{ QMGR_SERVER, "s s acl_user_enable = True", PBSE_BADATVAL },
		{ QMGR_SERVER, "u s nothing", PBSE_NOATTR },
		{ QMGR_NODE, "s n G1 state = down", PBSE_BADATVAL },
		{ QMGR_NODE, "s n G1 np = 0", PBSE_BADATVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *object = named("x");
		struct err e = ERR_INIT;
		const char *words;

		CHECK_INT(say(rows[i].kind, object, rows[i].text, &e), -1);
		CHECK_INT(pbs_error_find(e.text, &words), rows[i].number);
	}
}

TEST("how many cards a node has it says itself, and others may say so again")
{
	json_auto_t *node = named("g1");
	struct err e = ERR_INIT;
	const char *words;

	CHECK_INT(say(QMGR_NODE, node, "set node g1 gpus = 4", &e), 0); /* it has not been heard yet */
	jsonx_set_new(node, "status.capacity", json_pack("{s:s}", "nvidia.com/gpu", "8"));
	CHECK_INT(say(QMGR_NODE, node, "set node g1 gpus = 8", &e), 0);
	CHECK_INT(say(QMGR_NODE, node, "set node g1 gpus = 4", &e), -1);
	CHECK_INT(pbs_error_find(e.text, &words), PBSE_BADATVAL);
	CHECK(strstr(words, "MSG=gpus = 4: the node itself finds 8"));
}

TEST("the server's refusals name attributes as qmgr has them")
{
	static const struct {
		const char *said, *want;
	} rows[] = {
		{ "spec.defaultWalltime: Invalid value: \"20:00:00\": must not be longer than maxWalltime",
		  "resources_default.walltime: Invalid value: \"20:00:00\": must not be longer than "
		  "resources_max.walltime" },
		{ "spec.acl.users[1]: no", "acl_users[1]: no" },
		{ "spec.limits.perUser.gpus: no", "max_user_gpus: no" },
		{ "spec.resourcesMax: no, 2 of type", "resources_max: no, 2 of type" },
		{ "spec.other, metadata.name", "spec.other, metadata.name" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(1000);

		qmgr_words(QMGR_QUEUE, rows[i].said, &got);
		CHECK_STR(got.p ? got.p : "", rows[i].want);
	}
}

TEST("list shows what is asked for")
{
	json_auto_t *queue = named("q");
	auto_attributes struct pbs_attributes a = { 0 };
	auto_qmgr_command struct qmgr_command c = { 0 };
	auto_sbuf struct sbuf all = SBUF(1 << 16), some = SBUF(1 << 16);
	const struct qmgr_command nothing = { 0 };
	struct job_counts counts = { .n = { [COUNT_QUEUED] = 2 } };
	struct err e = ERR_INIT;
	size_t at;

	CHECK_INT(say(QMGR_QUEUE, queue, "s q q resources_max.mem=4gb,enabled=t", &e), 0);
	queue_attributes(queue, &counts, &a);
	qmgr_list(QMGR_QUEUE, "q", &a, &nothing, &all);
	CHECK_STR(all.p, "Queue q\n\ttotal_jobs = 2\n\tstate_count = Transit:0 Queued:2 Held:0 Waiting:0 Running:0 "
			 "Exiting:0 Complete:0 \n\tresources_max.mem = 4gb\n\tenabled = True\n\n");
	CHECK_INT(qmgr_parse(str_of("list queue q enabled,total_jobs"), &c, &at, &e), 0);
	qmgr_list(QMGR_QUEUE, "q", &a, &c, &some);
	CHECK_STR(some.p, "Queue q\n\ttotal_jobs = 2\n\tenabled = True\n\n");
}

TEST("what is left out of print is what an object has by itself")
{
	static const struct {
		enum qmgr_object kind;
		const struct kind *of;
	} rows[] = { { QMGR_SERVER, &kind_pbsserver }, { QMGR_QUEUE, &kind_queue } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *object = named("x");

		json_object_set_new(object, "spec", json_object());
		kind_default(rows[i].of, object);
		for (const struct setting *s = qmgr_settings(rows[i].kind); s->name; s++) {
			auto_attributes struct pbs_attributes a = { 0 };

			setting_show(s, object, &a);
			if (s->plain && (a.n || (*s->plain != 0) != (jsonx_at(object, s->path) != NULL)))
				test_fail(__FILE__, __LINE__, "%s is not \"%s\" by default", s->name, s->plain);
		}
	}
}

/* ---- by chance ---- */

static uint32_t seed = 12345;

static uint32_t chance(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void random_text(struct sbuf *out)
{
	static const char letters[] = "abcXYZ019 ,;#\"'\\=+-.@:/\t";

	for (uint32_t n = 1 + chance(12); n > 0; n--)
		sbuf_addc(out, letters[chance(sizeof(letters) - 1)]);
}

/* A value that the form takes. */
static void random_value(const struct setting *s, struct sbuf *out)
{
	static const char *const words[] = { "a", "b", "c", "d-e", "x@y" };

	if (s->form == SETTING_NUMBER || s->form == SETTING_TOLD || streq(s->name, "np"))
		sbuf_addf(out, "%u", 1 + chance(1000));
	else if (s->form == SETTING_BOOL || s->form == SETTING_SOME)
		sbuf_adds(out, chance(2) ? "True" : "False");
	else if (s->form == SETTING_FALSE)
		sbuf_adds(out, "False");
	else if (s->form == SETTING_TYPE)
		sbuf_adds(out, chance(2) ? "Route" : "Execution");
	else if (s->form == SETTING_OFFLINE)
		sbuf_adds(out, chance(2) ? "offline" : "free");
	else if (s->form == SETTING_ENTRY)
		sbuf_addf(out, "%02u:00:00", chance(1000));
	else if (s->form == SETTING_MAP)
		sbuf_addf(out, "%ugb", chance(1000));
	else if (setting_is_list(s))
		for (uint32_t n = 1 + chance(3), i = 0; i < n; i++)
			sbuf_addf(out, "%s%s", i ? "," : "", words[chance(ARRAY_SIZE(words))]);
	else
		random_text(out);
}

TEST("whatever is set is printed so that it can be said again")
{
	static const enum qmgr_object kinds[] = { QMGR_SERVER, QMGR_QUEUE, QMGR_NODE };

	for (int round = 0; round < 600; round++) {
		enum qmgr_object kind = kinds[round % 3];
		const struct setting *table = qmgr_settings(kind);
		json_auto_t *first = named("x");
		json_auto_t *second = named("x");
		auto_free char *printed = NULL;
		auto_free char *again = NULL;
		struct err e = ERR_INIT;

		for (const struct setting *s = table; s->name; s++) {
			auto_sbuf struct sbuf value = SBUF(1000);
			const char *resource = s->form == SETTING_ENTRY            ? s->resource
					       : s->form == SETTING_MAP            ? "mem"
					       : str_starts(s->name, "resources_") ? "vmem"
										   : NULL;

			random_value(s, &value);
			if (chance(3) && setting_write(table, first, s->name, resource, SETTING_SET, value.p, &e) < 0)
				test_fail(__FILE__, __LINE__, "%s = %s: %s", s->name, value.p, e.text);
		}
		printed = print(kind, first);
		if (say(kind, second, printed, &e) < 0)
			test_fail(__FILE__, __LINE__, "%s:\n%s", e.text, printed);
		again = print(kind, second);
		CHECK_STR(again, printed);
	}
}

TEST("any value comes back from its quotes")
{
	for (int round = 0; round < 2000; round++) {
		auto_sbuf struct sbuf value = SBUF(1000), line = SBUF(4000);
		auto_qmgr_command struct qmgr_command c = { 0 };
		struct err e = ERR_INIT;
		struct str rest, command;
		size_t at;

		random_text(&value);
		sbuf_adds(&line, "s s comment = ");
		qmgr_quote(value.p, &line);
		rest = sbuf_str(&line);
		CHECK(qmgr_cut(&rest, &command));
		CHECK_INT(rest.n, 0);
		CHECK_INT(qmgr_parse(command, &c, &at, &e), 0);
		CHECK_STR(c.nitems == 1 ? c.items[0].value : NULL, value.p);
	}
}
