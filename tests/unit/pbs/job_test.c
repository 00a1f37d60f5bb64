// SPDX-License-Identifier: Apache-2.0
/* job_test.c - from scripts and command lines to what is sent to the server, and to how qsub refuses */
#include "pbs/job.h"

#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/block.h"
#include "pbs/interactive.h"
#include "pbs/script.h"
#include "pbs/words.h"
#include "test.h"

static const char *environment[] = { "HOME=/ghome/u",    "LOGNAME=u", "PATH=/bin:/usr/bin", "SHELL=/bin/bash",
				     "LANG=zh_CN.UTF-8", "X=a,b\nc",  "PBS_O_HOST=lie",     NULL };

static const char *variable(const char *name)
{
	return streq(name, "HOME") ? "/ghome/u" : NULL;
}

static bool is_directory(const char *path)
{
	return streq(path, "/ghome/u/p/logs");
}

static int on_directive(void *arg, struct str rest, struct err *e)
{
	return options_directive(arg, rest, e);
}

/* A whole submission: the command line in one text, and a script. */
struct submission {
	struct ask ask;
	struct words argv;
	struct err e;
	json_t *job; /* NULL: refused */
};

static void submission_done(struct submission *s)
{
	ask_done(&s->ask);
	words_done(&s->argv);
	json_decref(s->job);
}

static void submit(const char *line, const char *script, struct submission *s)
{
	struct submitter who = {
		.place = { .host = "gwork", .cwd = "/ghome/u/p", .variable = variable, .is_directory = is_directory },
		.environment = (char *const *)environment,
		.now = 1710513020,
		.arguments = line,
		.rerunnable = true
	};
	auto_sbuf struct sbuf kept = SBUF(1 << 16);
	auto_free char *whole = xasprintf("qsub %s", line);
	const char *prefix;

	*s = (struct submission){ .e = ERR_INIT };
	CHECK_INT(words_split(str_of(whole), false, &s->argv, &s->e), 0);
	if (options_argv(&s->ask, (int)s->argv.n, s->argv.items, &s->e) < 0)
		return;
	prefix = ask_find(&s->ask, 'C');
	if (!s->ask.command &&
	    script_scan(str_of(script), prefix ? prefix : "#PBS", on_directive, &s->ask, &kept, NULL, &s->e) < 0)
		return;
	if (job_check(&s->ask, &s->e) == 0)
		s->job = job_make(&s->ask, &who, sbuf_str(&kept));
}

TEST("an option becomes a field of the job")
{
	static const struct {
		const char *line, *field, *want;
	} rows[] = {
		{ "", "name", "\"STDIN\"" },
		{ "run.sh", "name", "\"run.sh\"" },
		{ "/p/q/run.sh -N x", "name", "\"x\"" },
		{ "- -N x", "name", "\"x\"" },
		{ "-Nx -hz", "name", "\"x\"" },
		{ "-hVz", "hold", "\"u\"" },
		{ "-A acc", "account", "\"acc\"" },
		{ "-P proj", "project", "\"proj\"" },
		{ "-q mcc@Ghead", "queue", "\"mcc\"" },
		{ "-q @Ghead", "queue", NULL },
		{ "-p -7", "priority", "-7" },
		{ "-p +7", "priority", "7" },
		{ "-o x.log", "outputPath", "\"gwork:/ghome/u/p/x.log\"" },
		{ "-o logs", "outputPath", "\"gwork:/ghome/u/p/logs/\"" },
		{ "-e /a/b", "errorPath", "\"gwork:/a/b\"" },
		{ "-j oe -o x", "errorPath", "\"gwork:/ghome/u/p/x\"" },
		{ "-j eo -e x", "outputPath", "\"gwork:/ghome/u/p/x\"" },
		{ "-j oe", "errorPath", NULL },
		{ "-j oe", "joinPath", "\"oe\"" },
		{ "-k oe", "keepFiles", "\"oe\"" },
		{ "-K 30", "killDelaySeconds", "30" },
		{ "-m abba", "mail.points", "\"ab\"" },
		{ "-M a@b,c", "mail.users", "[\"a@b\",\"c\"]" },
		{ "-n", "nodeExclusive", "true" },
		{ "-I -x run.sh a b", "command", "[\"/ghome/u/p/run.sh\",\"a\",\"b\"]" },
		{ "-x /q/run.sh -I", "command", "[\"/q/run.sh\"]" },
		{ "-I run.sh", "command", NULL },
		{ "-r n", "rerunnable", "false" },
		{ "-r y", "rerunnable", "true" },
		{ "", "rerunnable", "true" },
		{ "-S /bin/csh@a,/bin/sh", "shell", "\"/bin/sh\"" },
		{ "-S /bin/csh@a", "shell", "\"/bin/csh\"" },
		{ "-t 0-9,20%5", "array", "{\"request\":\"0-9,20\",\"slots\":5}" },
		{ "run.sh -t 3", "array", "{\"request\":\"3\"}" },
		{ "-J 1-9:2%3", "array", "{\"request\":\"1-9:2\",\"slots\":3}" },
		{ "-J 1-9:2", "attributes", "{\"array_separator\":\".\"}" },
		{ "-F 'a \"b c\"'", "arguments", "[\"a\",\"b c\"]" },
		{ "-w sub", "workingDir", "\"/ghome/u/p/sub\"" },
		{ "-w sub", "env.PBS_O_WORKDIR", "\"/ghome/u/p/sub\"" },
		{ "", "workingDir", "\"/ghome/u/p\"" },
		{ "-d /", "initialDir", "\"/\"" },
		{ "-d /", "env.PBS_O_INITDIR", "\"/\"" },
		{ "", "env.PBS_O_INITDIR", NULL },
		{ "-a 1500", "executionTime", "\"2024-03-15T15:00:00Z\"" },
		{ "-c enabled", "checkpoint", "\"enabled\"" },
		{ "-u v@h", "userList", "[\"v@h\"]" },
		{ "-l nodes=1:gpus=1:S -l walltime=60", "resources",
		  "{\"nodes\":\"1:gpus=1:S\",\"walltime\":\"00:01:00\"}" },
		{ "-l image=bit:5000/deepo", "image", "\"bit:5000/deepo\"" },
		{ "-W umask=18", "umask", "\"0022\"" },
		{ "-W group_list=g,h@x", "groupList", "[\"g\",\"h@x\"]" },
		{ "-W depend=afterok:1:2,umask=022", "dependencies",
		  "[{\"type\":\"afterok\",\"jobs\":[\"1\",\"2\"]}]" },
		{ "-W depend=afterok:1,after:3", "dependencies",
		  "[{\"type\":\"afterok\",\"jobs\":[\"1\"]},{\"type\":\"after\",\"jobs\":[\"3\"]}]" },
		{ "-W depend=afterok:1 -W depend=after:3", "dependencies", "[{\"type\":\"after\",\"jobs\":[\"3\"]}]" },
		{ "-W 'umask = 022'", "umask", "\"0022\"" },
		{ "-W stagein=a@h:b,c@h:d -W stagein=e@h:f", "stageIn", "[\"a@h:b\",\"c@h:d\",\"e@h:f\"]" },
		{ "-W x=a:b -W x=c", "attributes", "{\"x\":\"a:b;c\"}" },
		{ "-W hint", "attributes", "{\"x\":\"hint\"}" },
		{ "-W sandbox=PRIVATE", "attributes", "{\"sandbox\":\"PRIVATE\"}" },
		{ "-W interactive=true", "interactive", "true" },
		{ "-I -r y", "rerunnable", "false" },
		{ "-i 3 -t 1-5", "attributes", "{\"idle_slot_limit\":\"3\"}" },
		{ "-- /bin/echo -n 'a b'", "command", "[\"/bin/echo\",\"-n\",\"a b\"]" },
		{ "-- /bin/echo", "script", NULL },
		{ "-- /bin/echo", "name", "\"echo\"" },
		{ "", "env.PBS_O_HOME", "\"/ghome/u\"" },
		{ "", "env.PBS_O_LANG", "\"zh_CN.UTF-8\"" },
		{ "", "env.PBS_O_MAIL", NULL },
		{ "", "env.PBS_O_HOST", "\"gwork\"" },
		{ "-V", "env.PBS_O_HOST", "\"gwork\"" },
		{ "-q mcc", "env.PBS_O_QUEUE", "\"mcc\"" },
		{ "-V", "env.X", "\"a,b\\nc\"" },
		{ "", "env.X", NULL },
		{ "-V -v X=1", "env.X", "\"1\"" },
		{ "-v X=1 -V", "env.X", "\"1\"" },
		{ "-v A=1 -v B=2", "env.A", "\"1\"" },
		{ "-l mem=1gb", "submitHost", "\"gwork\"" },
		{ "-l mem=1gb", "submitArgs", "\"-l mem=1gb\"" },
	};

	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(1000);
		auto_free char *path = xasprintf("spec.%s", rows[i].field);
		struct submission s;
		const json_t *v;

		submit(rows[i].line, "echo hi\n", &s);
		v = jsonx_at(s.job, path);
		if (v)
			jsonx_dump(v, &got);
		if (!s.job || !str_same(got.p, rows[i].want))
			test_fail(__FILE__, __LINE__, "qsub %s: %s is %s, not %s (%s)", rows[i].line, rows[i].field,
				  got.p ? got.p : "absent", rows[i].want ? rows[i].want : "absent", s.e.text);
		submission_done(&s);
	}
	unsetenv("TZ");
}

TEST("the job files that users have mean what they mean to Torque")
{
	static const struct {
		const char *line, *script, *want;
	} rows[] = {
		/* several blanks and tabs */
		{ "j.pbs", "#PBS    -N  testjob\n#PBS\t-q\tmcc\necho\n",
		  "{\"name\":\"testjob\",\"queue\":\"mcc\",\"resources\":{}}" },
		{ "j.pbs", "#PBS -o /ghome/u/$PBS_JOBID.out\n#PBS -e job_$PBS_JOBID.out\n",
		  "{\"name\":\"j.pbs\",\"outputPath\":\"gwork:/ghome/u/$PBS_JOBID.out\","
		  "\"errorPath\":\"gwork:/ghome/u/p/job_$PBS_JOBID.out\",\"resources\":{}}" },
		{ "j.pbs", "#PBS -o jobs/x.out \n",
		  "{\"name\":\"j.pbs\",\"outputPath\":\"gwork:/ghome/u/p/jobs/x.out\","
		  "\"resources\":{}}" },
		{ "j.pbs", "#PBS -o {dir}/out.out\n",
		  "{\"name\":\"j.pbs\",\"outputPath\":\"gwork:/ghome/u/p/{dir}/out.out\",\"resources\":{}}" },
		{ "j.pbs", "#PBS -l nodes=1:gpus=8:e\n#PBS -l walltime=600:00:00\n",
		  "{\"name\":\"j.pbs\",\"resources\":{\"nodes\":\"1:gpus=8:e\",\"walltime\":\"600:00:00\"}}" },
		{ "j.pbs", "#PBS -l nodes=1:gpus=4:C,walltime=1000:00:00\n",
		  "{\"name\":\"j.pbs\",\"resources\":{\"nodes\":\"1:gpus=4:C\",\"walltime\":\"1000:00:00\"}}" },
		{ "j.pbs", "#PBS -l nodes=G142:gpus=1\n",
		  "{\"name\":\"j.pbs\",\"resources\":{\"nodes\":\"G142:gpus=1\"}}" },
		{ "j.pbs", "#PBS -r y\n#PBS  -m abef\n#PBS -q batch\n",
		  "{\"name\":\"j.pbs\",\"mail\":{\"points\":\"abef\"},\"queue\":\"batch\",\"resources\":{}}" },
		{ "j.pbs", "# /path/script.pbs   # 说明\n#PBS -N a_r_1   # 任务名\n#PBS -l nodes=1:gpus=1:S #一张卡\n",
		  "{\"name\":\"a_r_1\",\"resources\":{\"nodes\":\"1:gpus=1:S\"}}" },
		{ "j.pbs", "  #PBS -N indented\n", "{\"name\":\"indented\",\"resources\":{}}" },
		{ "j.pbs", "cd $PBS_0_WORKDIR\n#PBS -N late\n", "{\"name\":\"j.pbs\",\"resources\":{}}" },
		{ "j.pbs", "#PBS -N no_end_of_line", "{\"name\":\"no_end_of_line\",\"resources\":{}}" },
		/* the command line is stronger, by name */
		{ "-N strong -l walltime=1:00:00 -v A=cli",
		  "#PBS -N weak -v A=script,B=2\n#PBS -l nodes=1:S,walltime=5\n",
		  "{\"name\":\"strong\",\"resources\":{\"walltime\":\"01:00:00\",\"nodes\":\"1:S\"},"
		  "\"env\":{\"A\":\"cli\",\"B\":\"2\"}}" },
		{ "j.pbs -C '#MINE'", "#PBS -N a\n#MINE -N b\n", "{\"name\":\"b\",\"resources\":{}}" },
		{ "j.pbs -C ''", "#PBS -N a\n", "{\"name\":\"j.pbs\",\"resources\":{}}" },
		{ "j.pbs", "#PBS -C '#X' -N a\n#X -N b\n", "{\"name\":\"a\",\"resources\":{}}" },
		{ "j.pbs", "#PBS -W umask=022\n#PBS -W group_list=g\n",
		  "{\"name\":\"j.pbs\",\"umask\":\"0022\",\"groupList\":[\"g\"],\"resources\":{}}" },
		/* what other programs write */
		{ "j.pbs", "#PBS -l walltime=10080:0,mem=2097152K\n",
		  "{\"name\":\"j.pbs\",\"resources\":{\"walltime\":\"168:00:00\",\"mem\":\"2097152kb\"}}" },
		{ "j.pbs", "\n#PBS -N blank_first\n", "{\"name\":\"blank_first\",\"resources\":{}}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(1 << 16);
		json_auto_t *want = json_loads(rows[i].want, 0, NULL);
		struct submission s;
		const char *key;
		json_t *v;

		submit(rows[i].line, rows[i].script, &s);
		if (!s.job)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].script, s.e.text);
		jsonx_dump(jsonx_at(s.job, "spec"), &got);
		CHECK(want != NULL);
		json_object_foreach (want, key, v) {
			const json_t *have = json_object_get(json_object_get(s.job, "spec"), key);
			json_auto_t *part = NULL;

			if (streq(key, "env")) { /* beside what PBS adds */
				part = json_copy((json_t *)have);
				json_object_update(part, v);
				v = part;
			}
			if (!jsonx_equal(have, v))
				test_fail(__FILE__, __LINE__, "%s: %s is not as in %s: %s", rows[i].script, key,
					  rows[i].want, got.p);
		}
		submission_done(&s);
	}
}

TEST("what is wrong is refused in PBS's words and with its exit codes")
{
	static const struct {
		const char *line, *script;
		int status;
		enum refusal refusal;
		const char *text; /* how it begins */
	} rows[] = {
		{ "-Q", "", 2, REFUSE_USAGE, "invalid option -Q" },
		{ "-N", "", 2, REFUSE_USAGE, "option -N needs a value" },
		{ "-N 'a b'", "", 2, REFUSE_USAGE, "illegal -N value" },
		{ "-p 1024", "", 2, REFUSE_USAGE, "illegal -p value" },
		{ "-r maybe", "", 2, REFUSE_USAGE, "illegal -r value (y/n)" },
		{ "-a noon", "", 2, REFUSE_USAGE, "illegal -a value" },
		{ "-m bobo", "", 2, REFUSE_USAGE, "illegal -m value" },
		{ "-d /no/such/dir", "", 2, REFUSE_USAGE, "illegal -d value" },
		{ "-l nodes=1,", "", 2, REFUSE_USAGE, "illegal -l value" },
		{ "-l nodes=1:gpus=0:S", "", 2, REFUSE_USAGE, "illegal -l value" },
		{ "-l nodes=1,procs=2", "", 2, REFUSE_USAGE, "illegal -l value" },
		{ "-l walltime", "", 1, REFUSE_PLAIN, "illegal -l value" },
		{ "-l colour=red", "", 189, REFUSE_SUBMIT, "PBS 15037: Unknown resource type  MSG=detected request" },
		{ "-x", "", 2, REFUSE_USAGE, "-x may only be given with -I" },
		{ "-l nodes=2,ncpus=4", "", 4, REFUSE_PLAIN, "Jobs may not mix -l nodes with -l size or -l ncpus" },
		{ "-l nodes=2 -l select=2", "", 4, REFUSE_PLAIN, "select: must not be there beside nodes" },
		{ "-q a@", "", 2, REFUSE_PLAIN, "illegally formed destination: a@" },
		{ "-v =1", "", 3, REFUSE_BARE, "invalid -v syntax" },
		{ "-t 5-3", "", 235, REFUSE_SUBMIT, "PBS 15083: Bad Job Array Request" },
		{ "-t 1-5:2", "", 235, REFUSE_SUBMIT, "PBS 15083: Bad Job Array Request" },
		{ "-t qt32", "", 235, REFUSE_SUBMIT, "PBS 15083: Bad Job Array Request" },
		{ "-J 5-3", "", 2, REFUSE_USAGE, "illegal -J value" },
		{ "-I -t 1-5", "", 2, REFUSE_PLAIN, "interactive job can not be job array." },
		{ "-i 3", "", 4, REFUSE_PLAIN, "-i may only be given with a job array" },
		{ "-W depend=afterok:x", "", 2, REFUSE_USAGE, "illegal -W dependency value: 'afterok:x'" },
		{ "-W umask=9999", "", 2, REFUSE_USAGE, "illegal -W value" },
		{ "-W stagein=a", "", 2, REFUSE_USAGE, "illegal -W value" },
		{ "-W colour=red", "", 154, REFUSE_SUBMIT, "PBS 15002: Undefined attribute " },
		{ "a b", "", 2, REFUSE_SHORT, "usage" },
		{ "--", "", 2, REFUSE_SHORT, "usage" },
		{ "a -- b", "", 2, REFUSE_SHORT, "usage" },
		{ "-D /x", "", 2, REFUSE_PLAIN,
		  "-D: jobs with another root directory are not supported here: -l image" },
		{ "-X", "", 2, REFUSE_PLAIN, "-X: X11 is not passed on here" },
		{ "-T fast", "", 2, REFUSE_PLAIN, "-T: there are no prologues here" },
		{ "-R oe", "", 2, REFUSE_PLAIN, "-R: files are not removed here: write to /dev/null (-o, -e)" },
		{ "j", "#PBS -N 'a\n", 1, REFUSE_PLAIN, "directive error: unmatched '" },
		{ "j -N good", "#PBS -p 5000\n", 2, REFUSE_USAGE, "illegal -p value" },
		{ "j", "#PBS -Z\n", 2, REFUSE_USAGE, "invalid option -Z" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct submission s;

		submit(rows[i].line, rows[i].script, &s);
		if (s.job || s.ask.status != rows[i].status || s.ask.refusal != rows[i].refusal ||
		    !str_starts(s.e.text, rows[i].text))
			test_fail(__FILE__, __LINE__, "qsub %s %s: %d %d \"%s\"", rows[i].line, rows[i].script,
				  s.ask.status, (int)s.ask.refusal, s.e.text);
		submission_done(&s);
	}
}

TEST("a waiting qsub ends as the job does")
{
	static const struct {
		const char *job;
		bool gone;
		int want;
	} rows[] = {
		{ "{\"status\":{\"state\":\"Q\"}}", false, -1 },
		{ "{\"status\":{\"state\":\"E\",\"exitStatus\":4}}", false, -1 },
		{ "{\"status\":{\"state\":\"C\",\"exitStatus\":0,\"startCount\":1}}", false, 0 },
		{ "{\"status\":{\"state\":\"C\",\"exitStatus\":7,\"startCount\":1}}", false, 7 },
		{ "{\"status\":{\"state\":\"C\",\"exitStatus\":271,\"startCount\":1}}", false, 15 },
		{ "{\"status\":{\"state\":\"C\",\"exitStatus\":-11,\"startCount\":1}}", false, 245 },
		{ "{\"status\":{\"state\":\"C\"}}", false, 3 },
		{ "{\"status\":{\"state\":\"Q\"}}", true, 3 },
		{ "{\"status\":{\"state\":\"R\",\"startCount\":1}}", true, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *job = json_loads(rows[i].job, 0, NULL);

		CHECK_INT(block_status(job, rows[i].gone), rows[i].want);
	}
}

TEST("one sits down at a job that runs and has its pods")
{
	static const struct {
		const char *job;
		bool gone;
		enum interactive_state want;
	} rows[] = {
		{ "{}", false, INTERACTIVE_WAITS },
		{ "{\"status\":{\"state\":\"H\"}}", false, INTERACTIVE_WAITS },
		{ "{\"status\":{\"state\":\"R\"}}", false, INTERACTIVE_WAITS },
		{ "{\"status\":{\"state\":\"R\",\"pods\":[\"1-0\"]}}", false, INTERACTIVE_READY },
		{ "{\"status\":{\"state\":\"R\",\"pods\":[\"1-0\"]}}", true, INTERACTIVE_GONE },
		{ "{\"status\":{\"state\":\"E\",\"pods\":[\"1-0\"]}}", false, INTERACTIVE_GONE },
		{ "{\"status\":{\"state\":\"C\"}}", false, INTERACTIVE_GONE },
		{ "{\"status\":{\"state\":\"C\",\"pods\":[\"1-0\"]}}", false, INTERACTIVE_READY },
		{ "{\"status\":{\"state\":\"C\",\"pods\":[\"1-0\"],\"cancelled\":true}}", false, INTERACTIVE_GONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *job = json_loads(rows[i].job, 0, NULL);

		CHECK_INT(interactive_state(job, rows[i].gone), rows[i].want);
	}
}
