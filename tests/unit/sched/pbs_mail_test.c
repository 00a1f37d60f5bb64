// SPDX-License-Identifier: Apache-2.0
#include "sched/pbs_mail.h"

#include <fcntl.h>
#include <unistd.h>

#include "api/sample_json.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_account.h"
#include "sched/mailer.h"
#include "test.h"

#define SETTINGS "{'mailCommand':'/usr/sbin/sendmail  -i','mailFrom':'pbs@site.org'}"

TEST("mail is sent at the points that were asked for")
{
	static const struct {
		const char *mail;
		char type;
		int exit;
		const char *by;
		bool sent;
	} rows[] = {
		{ "{}", 'S', 0, "", false },
		{ "{}", 'E', 0, "", false },
		{ "{}", 'E', 1, "", false },
		{ "{}", 'E', -11, "", true },
		{ "{}", 'A', 0, "", true },
		{ "{}", 'D', 0, "root", true },
		{ "{}", 'D', 0, "anna", false },
		{ "{}", 'Q', 0, "", false },
		{ "{'points':'n'}", 'A', 0, "", false },
		{ "{'points':'p'}", 'A', 0, "", false },
		{ "{'points':'b'}", 'S', 0, "", true },
		{ "{'points':'b'}", 'A', 0, "", false },
		{ "{'points':'e'}", 'E', 0, "", true },
		{ "{'points':'e'}", 'E', 3, "", true },
		{ "{'points':'f'}", 'E', 0, "", false },
		{ "{'points':'f'}", 'E', 3, "", true },
		{ "{'points':'abe','users':['-oQ/tmp','x y','a\\nb']}", 'A', 0, "", false },
		{ "{'points':'abe','users':['b@site.org','-oQ']}", 'A', 0, "", true },
	};
	json_auto_t *settings = sample_json(SETTINGS);
	json_auto_t *none = sample_json("{}");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text =
			xasprintf("{'spec':{'owner':'anna','mail':%s,'cancel':{'by':'%s'}}}", rows[i].mail, rows[i].by);
		json_auto_t *job = sample_json(text);
		struct pbs_account_end end = { .has_exit = true, .exit = rows[i].exit };
		struct pbs_record r = { .type = rows[i].type, .id = "7.G", .job = job, .end = &end };
		auto_sbuf struct sbuf out = SBUF(MAIL_MAX);
		json_auto_t *args = NULL;

		if (pbs_mail(&r, settings, &args, &out) != rows[i].sent)
			test_fail(__FILE__, __LINE__, "row %zu", i);
		CHECK(!pbs_mail(&r, none, &args, &out));
	}
}

TEST("a mail says which job, where, how and why")
{
	json_auto_t *settings = sample_json(SETTINGS);
	json_auto_t *job = sample_json("{'spec':{'owner':'anna','name':'train','mail':{'points':'abe','users':["
				       "'ben','-x','c@site.org']},'cancel':{'by':'root','message':'too\\nslow'}},"
				       "'status':{'execHost':'n1/0','comment':'why'}}");
	json_auto_t *used = sample_json("{'cput':'00:00:07'}");
	json_auto_t *want = sample_json("['/usr/sbin/sendmail','-i','ben','c@site.org']");
	struct pbs_account_end end = { .has_exit = true, .exit = 3, .used = used };
	struct pbs_record r = { .type = 'E', .id = "7.G", .job = job, .run = jsonx_at(job, "status"), .end = &end };
	auto_sbuf struct sbuf out = SBUF(MAIL_MAX), deleted = SBUF(MAIL_MAX);
	json_auto_t *args = NULL, *again = NULL;

	CHECK(pbs_mail(&r, settings, &args, &out));
	CHECK(jsonx_equal(args, want));
	CHECK_STR(out.p, "To: ben, c@site.org\nFrom: pbs@site.org\nSubject: PBS JOB 7.G\n\nPBS Job Id: 7.G\n"
			 "Job Name:   train\nExec host:  n1/0\nExecution terminated\nExit_status=3\n"
			 "resources_used.cput=00:00:07\n");
	CHECK(pbs_mail(&(struct pbs_record){ .type = 'D', .id = "7.G", .job = job }, settings, &again, &deleted));
	CHECK_STR(strstr(deleted.p, "\n\n") + 2, "PBS Job Id: 7.G\nJob Name:   train\nAborted by PBS Server\nJob "
						 "deleted at request of root\ntoo slow\n");
}

TEST("mails are sent one after the other, and a program that is not there stops nobody")
{
	char dir[] = "/tmp/mailer-XXXXXX";
	struct loop *loop = loop_new();
	struct mailer *m = mailer_new(loop);
	json_auto_t *no = sample_json("['/no/such/program','x']");
	auto_sbuf struct sbuf all = SBUF(4096);
	auto_free char *path = NULL;
	json_auto_t *args = NULL;

	CHECK(mkdtemp(dir) != NULL);
	path = xasprintf("%s/mails", dir);
	args = json_pack("[s, s, s]", "tee", "-a", path);
	mailer_send(m, args, STR("one\n"));
	mailer_send(m, no, STR("lost\n"));
	mailer_send(m, args, STR("two\n"));
	for (int i = 0; i < 60000 && all.n < 8; i++) {
		struct err e = ERR_INIT;

		loop_turn(loop, true);
		usleep(1000);
		sbuf_reset(&all);
		file_read(path, 4096, &all, &e);
	}
	CHECK_STR(all.p, "one\ntwo\n");
	mailer_send(m, args, STR("three\n"));
	mailer_send(m, args, STR("four\n"));
	mailer_free(m);
	loop_free(loop);
	unlink(path);
	rmdir(dir);
}
