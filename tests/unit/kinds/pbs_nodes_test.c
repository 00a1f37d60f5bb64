// SPDX-License-Identifier: Apache-2.0
/* pbs_nodes_test.c - which nodes a PBS job asks for */
#include "kinds/pbs_nodes.h"

#include "base/mem.h"
#include "base/str.h"
#include "test.h"

/* count*ppn/cpus/gpus[!][@memory][:prop...], joined by '+'; ! for shared cards. */
static void shown(const struct pbs_nodes *n, struct sbuf *out)
{
	for (size_t i = 0; i < n->n; i++) {
		const struct pbs_req *r = &n->reqs[i];

		sbuf_addf(out, "%s%d*%d/%d/%d%s", i ? "+" : "", r->count, r->ppn, r->cpus, r->gpus,
			  r->shared ? "!" : "");
		if (r->memory)
			sbuf_addf(out, "@%lld", (long long)r->memory);
		for (size_t k = 0; k < r->nprops; k++)
			sbuf_addf(out, ":%s", r->props[k]);
	}
	sbuf_addf(out, " %d/%d%s%s", n->count, n->tasks, n->apart ? " apart" : "", n->whole ? " whole" : "");
}

struct row {
	const char *text;
	const char *want; /* NULL: refused */
};

static void check_row(const struct row *row, int r, const struct pbs_nodes *n, const struct err *e)
{
	auto_sbuf struct sbuf got = SBUF(1 << 20);

	if (r < 0) {
		CHECK(e->text[0]);
		CHECK_INT(e->kind, ERR_INVALID);
		if (row->want)
			test_fail(__FILE__, __LINE__, "%s: refused: %s", row->text, e->text);
		return;
	}
	shown(n, &got);
	if (!row->want || !streq(got.p, row->want))
		test_fail(__FILE__, __LINE__, "%s: is %s, not %s", row->text, got.p, row->want ? row->want : "refused");
}

TEST("nodes= is read as Torque reads it, and what Torque loses is refused")
{
	static const struct row rows[] = {
		{ "1:gpus=1:S", "1*1/1/1:S 1/1" },
		{ "1:gpus=2:D", "1*1/1/2:D 1/1" },
		{ "2:ppn=4:gpus=1:v100+1:cpu", "2*4/4/1:v100+1*1/1/0:cpu 3/9" },
		{ "20:ppn=10", "20*10/10/0 20/200" },
		{ "myhost:ppn=24+myhost2+myhost3", "1*24/24/0:myhost+1*1/1/0:myhost2+1*1/1/0:myhost3 3/26" },
		{ "500:ppn=29+myhost1+100+200+myhost2",
		  "500*29/29/0+1*1/1/0:myhost1+100*1/1/0+200*1/1/0+1*1/1/0:myhost2 802/14802" },
		{ "G142:gpus=1", "1*1/1/1:G142 1/1" },
		{ "1:S:s:S", "1*1/1/0:S:s 1/1" },
		{ "1", "1*1/1/0 1/1" },
		{ "007", "7*1/1/0 7/7" },
		{ "S", "1*1/1/0:S 1/1" },
		{ "S:ppn=2", "1*2/2/0:S 1/2" },
		{ "ppn=2:S", "1*2/2/0:S 1/2" },
		{ "1:S:gpus=8:ppn=3", "1*3/3/8:S 1/3" },
		{ "1|2", "1*1/1/0+2*1/1/0 3/3" },
		{ "1:ppn=2+nodes=1:S", "1*2/2/0+1*1/1/0:S 2/3" },
		{ "1:A+1:B#big#fast", "1*1/1/0:A:big:fast+1*1/1/0:B:big:fast 2/2" },
		{ "1:gpus=2:exclusive_process", "1*1/1/2 1/1" },
		{ "1:gpus=2:Shared:S", "1*1/1/2!:S 1/1" },
		{ "1:gpus=2:default", "1*1/1/2! 1/1" },
		{ "1:shared", "1*1/1/0:shared 1/1" },
		{ "1:mics=2", "1*1/1/0 1/1" },
		{ "node-1.x_y/3", "1*1/1/0:node-1.x_y 1/1" },
		{ "1:gpus=0:S", NULL },
		{ "0", NULL },
		{ "000", NULL },
		{ "1:ppn=", NULL },
		{ "1:ppn=0", NULL },
		{ "1:ppn=x", NULL },
		{ "1:ppn=-1", NULL },
		{ "1:foo=3", NULL },
		{ ":ppn=2", NULL },
		{ "1:9x", NULL },
		{ "", NULL },
		{ "1:", NULL },
		{ "1+", NULL },
		{ "+1", NULL },
		{ "1S", NULL },
		{ "1:S!x", NULL },
		{ "1:S/", NULL },
		{ "1:S/2x", NULL },
		{ "1#", NULL },
		{ "1#9", NULL },
		{ "1:gpus=1:prohibited", NULL },
		{ "10001", NULL },
		{ "5000+5001", NULL },
		{ "99999999999999999999", NULL },
		{ "1:ppn=65537", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pbs_nodes n = { 0 };
		struct err e = ERR_INIT;
		int r = pbs_nodes_parse(rows[i].text, &n, &e);

		check_row(&rows[i], r, &n, &e);
		pbs_nodes_done(&n);
	}
}

TEST("select= is read as OpenPBS reads it")
{
	static const struct row rows[] = {
		{ "1:ncpus=4", "1*1/4/0 1/1" },
		{ "2:ncpus=4:mpiprocs=4:ngpus=1", "2*4/4/1 2/8" },
		{ "mpiprocs=2", "1*2/2/0 1/2" },
		{ "3", "3*1/1/0 3/3" },
		{ "1:ncpus=2:mem=1gb+2:ngpus=1:host=G101", "1*1/2/0@1073741824+2*1/1/1:G101 3/3" },
		{ "1:ncpus=2:ngpus=0:ompthreads=2:v100=True", "1*1/2/0:v100 1/1" },
		{ "1:vnode=a", "1*1/1/0:a 1/1" },
		{ "", NULL },
		{ "0:ncpus=1", NULL },
		{ "1:ncpus", NULL },
		{ "1:ncpus=", NULL },
		{ "1:=2", NULL },
		{ "1:ncpus=x", NULL },
		{ "1:mem=lots", NULL },
		{ "1:color=red", NULL },
		{ "1:host=9", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pbs_nodes n = { 0 };
		struct err e = ERR_INIT;
		int r = pbs_select_parse(rows[i].text, &n, &e);

		check_row(&rows[i], r, &n, &e);
		pbs_nodes_done(&n);
	}
}

TEST("a job's resources say what it asks for in all")
{
	static const struct row rows[] = {
		{ "{}", "1*1/1/0 1/1" },
		{ "{\"nodes\":\"2:ppn=2\"}", "2*2/2/0 2/4" },
		{ "{\"select\":\"2:ncpus=2\"}", "2*1/2/0 2/2" },
		{ "{\"procs\":\"4\"}", "4*1/1/0 4/4" },
		{ "{\"ncpus\":\"4\"}", "1*4/4/0 1/4" },
		{ "{\"procs\":\"2\",\"ncpus\":\"4\"}", "2*1/4/0 2/2" },
		{ "{\"gpus\":\"2\"}", "1*1/1/2 1/1" },
		{ "{\"ncpus\":\"4\",\"ngpus\":\"1\"}", "1*4/4/1 1/4" },
		{ "{\"nodes\":\"1:S\",\"ncpus\":\"4\"}", "1*4/4/0:S 1/4" },
		{ "{\"nodes\":\"1:ppn=2\",\"ncpus\":\"4\"}", "1*2/4/0 1/2" },
		{ "{\"nodes\":\"2:S\",\"gpus\":\"1\"}", "2*1/1/1:S 2/2" },
		{ "{\"nodes\":\"2\",\"host\":\"G101\",\"feature\":\"a:b\"}", "2*1/1/0:G101:a:b 2/2" },
		{ "{\"nodes\":\"2\",\"walltime\":\"1:00\",\"mem\":\"1gb\"}", "2*1/1/0@536870912 2/2" },
		{ "{\"nodes\":\"3\",\"mem\":\"10b\"}", "3*1/1/0@4 3/3" },
		{ "{\"nodes\":\"2:ppn=3+1\",\"pmem\":\"2kb\"}", "2*3/3/0@6144+1*1/1/0@2048 3/7" },
		{ "{\"select\":\"1:mem=1kb+1\",\"mem\":\"4kb\"}", "1*1/1/0@1024+1*1/1/0@2048 2/2" },
		{ "{\"select\":\"2\",\"place\":\"free\"}", "2*1/1/0 2/2" },
		{ "{\"select\":\"2\",\"place\":\"scatter\"}", "2*1/1/0 2/2 apart" },
		{ "{\"select\":\"2\",\"place\":\"vscatter:exclhost:group=rack\"}", "2*1/1/0 2/2 apart whole" },
		{ "{\"select\":\"2\",\"place\":\"excl\"}", "2*1/1/0 2/2 whole" },
		{ "{\"select\":\"1\",\"place\":\"pack:shared\"}", "1*1/1/0 1/1" },
		{ "{\"select\":\"2:ngpus=1:ncpus=2:mpiprocs=2:mem=1kb+3:ncpus=1:host=G1\",\"place\":\"pack\"}",
		  "1*7/7/2@2048:G1 1/7" },
		{ "{\"nodes\":\"1\",\"naccesspolicy\":\"SingleJob\"}", "1*1/1/0 1/1 whole" },
		{ "{\"nodes\":\"1\",\"naccesspolicy\":\"shared\"}", "1*1/1/0 1/1" },
		{ "{\"select\":\"2\",\"place\":\"wide\"}", NULL },
		{ "{\"select\":\"2\",\"place\":\"pack:scatter\"}", NULL },
		{ "{\"select\":\"2\",\"place\":\"\"}", NULL },
		{ "{\"select\":\"2\",\"place\":\"pack:\"}", NULL },
		{ "{\"select\":\"2\",\"place\":\"group=\"}", NULL },
		{ "{\"nodes\":\"2\",\"ncpus\":\"4\"}", NULL },
		{ "{\"nodes\":\"1\",\"procs\":\"4\"}", NULL },
		{ "{\"nodes\":\"1:gpus=1\",\"gpus\":\"1\"}", NULL },
		{ "{\"nodes\":\"1\",\"select\":\"1\"}", NULL },
		{ "{\"nodes\":\"1:\"}", NULL },
		{ "{\"procs\":\"x\"}", NULL },
		{ "{\"procs\":\"0\"}", NULL },
		{ "{\"host\":\"9\"}", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *resources = json_loads(rows[i].text, 0, NULL);
		struct pbs_nodes n = { 0 };
		struct err e = ERR_INIT;
		int r = pbs_nodes_of(resources, &n, &e);

		check_row(&rows[i], r, &n, &e);
		pbs_nodes_done(&n);
	}
}
