// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/jsonx.h"

#include "pbs/qstat_full.h"
#include "pbs/qstat_queues.h"
#include "test.h"
#include <time.h>

#define COUNTS(...)                                                                                                    \
	{                                                                                                              \
		.n = { __VA_ARGS__ }                                                                                   \
	}

static const char *shown(struct sbuf *out)
{
	static char kept[8192];

	snprintf(kept, sizeof(kept), "%s", out->p);
	sbuf_done(out);
	return kept;
}

/* The two queues of the manual. */
static void two(struct queue_line q[2])
{
	q[0] = (struct queue_line){ .name = "batch",
				    .queue = json_pack("{s:{s:s}}", "spec", "type", "Execution"),
				    .counts = COUNTS([COUNT_QUEUED] = 31, [COUNT_RUNNING] = 96) };
	q[1] = (struct queue_line){ .name = "mcc",
				    .queue = json_pack("{s:{s:s, s:{s:s}, s:{s:{s:i}}}}", "spec", "maxWalltime",
						       "1000:00:00", "resourcesMax", "nodect", "8", "limits", "total",
						       "running", 8),
				    .counts = COUNTS([COUNT_RUNNING] = 4) };
}

static void two_done(struct queue_line q[2])
{
	json_decref((json_t *)q[0].queue);
	json_decref((json_t *)q[1].queue);
}

TEST("-q shows what queues take, and sums")
{
	struct sbuf out = SBUF(8192);
	struct queue_line q[2];

	two(q);
	qstat_limits("Ghead", q, 2, 0, &out);
	CHECK_STR(shown(&out), "\n"
			       "server: Ghead\n"
			       "\n"
			       "Queue            Memory CPU Time Walltime Node  Run Que Lm  State\n"
			       "---------------- ------ -------- -------- ----  --- --- --  -----\n"
			       "batch              --      --       --      --   96  31 --   E R\n"
			       "mcc                --      --    1000:00:     8   4   0  8   E R\n"
			       "                                               ----- -----\n"
			       "                                                 100    31\n");
	two_done(q);
}

TEST("-Q and -B show how many jobs stand how")
{
	struct job_counts c =
		COUNTS([COUNT_QUEUED] = 31, [COUNT_RUNNING] = 100, [COUNT_HELD] = 1, [COUNT_COMPLETE] = 4);
	struct sbuf out = SBUF(8192);
	json_auto_t *server = json_object();
	struct queue_line q[2];

	two(q);
	q[0].counts.n[COUNT_HELD] = 1;
	q[0].counts.n[COUNT_COMPLETE] = 4;
	qstat_queues(q, 1, &out);
	CHECK_STR(shown(&out),
		  "Queue              Max    Tot   Ena   Str   Que   Run   Hld   Wat   Trn   Ext T   Cpt\n"
		  "----------------   ---   ----    --    --   ---   ---   ---   ---   ---   --- -   ---\n"
		  "batch                0    132   yes   yes    31    96     1     0     0     0 E     4\n");
	two_done(q);
	qstat_server("Ghead", server, &c, &out);
	CHECK_STR(shown(&out), "Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext   Com Status    \n"
			       "----------------   ---   ---   ---   ---   ---   ---   ---   ---   --- ----------\n"
			       "Ghead                0   136    31   100     1     0     0     0     4 Active    \n");
}

TEST("-Qf lists a queue's attributes with their counts")
{
	struct sbuf out = SBUF(8192);
	struct full f = { .form = FULL_TEXT, .sort = &full_queues, .out = &out };
	struct job_counts c = COUNTS([COUNT_QUEUED] = 31, [COUNT_HELD] = 1, [COUNT_RUNNING] = 96, [COUNT_COMPLETE] = 4);
	auto_attributes struct pbs_attributes a = { 0 };
	json_auto_t *queue = json_pack("{s:{s:s, s:i, s:s, s:{s:s, s:s}, s:{s:[s,s]}, s:b, s:b}}", "spec", "type",
				       "Execution", "priority", 5, "defaultWalltime", "7d", "resourcesDefault", "mem",
				       "4gb", "walltime", "1", "acl", "users", "a", "-b", "enabled", 1, "started", 0);

	c.nodes = 3;
	c.slots = 12;
	setenv("TZ", "UTC", 1);
	tzset();
	jsonx_set_new(queue, "metadata",
		      json_pack("{s:s, s:[{s:s}, {s:s, s:s}]}", "creationTimestamp", "2001-09-09T01:46:40Z",
				"managedFields", "time", "2001-09-09T01:46:50Z", "subresource", "status", "time",
				"2001-09-09T01:50:00Z"));
	queue_attributes(queue, &c, &a);
	full_begin(&f);
	full_add(&f, "batch", &a);
	full_end(&f, "Ghead", 0);
	CHECK_STR(shown(&out), "Queue: batch\n"
			       "    queue_type = Execution\n"
			       "    Priority = 5\n"
			       "    total_jobs = 132\n"
			       "    state_count = Transit:0 Queued:31 Held:1 Waiting:0 Running:96 Exiting:0 Co\n"
			       "\tmplete:4 \n"
			       "    acl_user_enable = True\n"
			       "    acl_users = a,-b\n"
			       "    resources_default.walltime = 168:00:00\n"
			       "    resources_default.mem = 4gb\n"
			       "    mtime = Sun Sep  9 01:46:50 2001\n"
			       "    resources_assigned.ncpus = 12\n"
			       "    resources_assigned.nodect = 3\n"
			       "    enabled = True\n"
			       "    started = False\n"
			       "\n");
}

TEST("-Bf lists what qmgr sets, and the version")
{
	struct job_counts c = COUNTS([COUNT_RUNNING] = 2);
	auto_attributes struct pbs_attributes a = { 0 };
	json_auto_t *server = json_pack("{s:{s:s, s:b, s:{s:s}}}", "spec", "defaultQueue", "batch", "scheduling", 0,
					"resourcesMax", "nodect", "4");

	server_attributes(server, &c, &a);
	CHECK_STR(pbs_attributes_find(&a, "server_state", NULL), "Idle");
	CHECK_STR(pbs_attributes_find(&a, "total_jobs", NULL), "2");
	CHECK_STR(pbs_attributes_find(&a, "default_queue", NULL), "batch");
	CHECK_STR(pbs_attributes_find(&a, "resources_max", "nodect"), "4");
	CHECK_STR(pbs_attributes_find(&a, "pbs_version", NULL), "6.1.3");
}
