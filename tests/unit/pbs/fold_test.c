// SPDX-License-Identifier: Apache-2.0
#include "pbs/fold.h"
#include "pbs/slots.h"
#include "pbs/xml.h"
#include "test.h"

static const char *folded(const char *name, const char *resource, const char *value, bool whole)
{
	static char kept[4096];
	struct sbuf out = SBUF(sizeof(kept) - 1);

	fold_attribute(name, resource, value, whole, &out);
	snprintf(kept, sizeof(kept), "%s", out.p);
	sbuf_done(&out);
	return kept;
}

TEST("pieces between commas move to a new line as wholes")
{
	CHECK_STR(folded("Variable_List", NULL,
			 "PBS_O_QUEUE=batch,PBS_O_HOME=/ghome/userx,PBS_O_LOGNAME=userx,PBS_O_HOST=gwork,"
			 "PBS_O_WORKDIR=/ghome/userx",
			 false),
		  "    Variable_List = PBS_O_QUEUE=batch,PBS_O_HOME=/ghome/userx,\n"
		  "\tPBS_O_LOGNAME=userx,PBS_O_HOST=gwork,PBS_O_WORKDIR=/ghome/userx\n");
}

TEST("a first piece that is too long is broken in place, byte by byte")
{
	/* column 7 + 4 = 11: 67 bytes until 78, then 70 a line */
	CHECK_STR(folded("name", NULL,
			 "1234567890123456789012345678901234567890123456789012345678901234567"
			 "1234567890123456789012345678901234567890123456789012345678901234567890rest",
			 false),
		  "    name = 1234567890123456789012345678901234567890123456789012345678901234567\n"
		  "\t1234567890123456789012345678901234567890123456789012345678901234567890\n"
		  "\trest\n");
}

TEST("a later piece that is too long begins in column 9")
{
	CHECK_STR(folded("name", NULL, "a,123456789012345678901234567890123456789012345678901234567890123456789xyz",
			 false),
		  "    name = a,\n"
		  "\t123456789012345678901234567890123456789012345678901234567890123456789\n"
		  "\txyz\n");
}

TEST("a piece fits up to column 76, and empty pieces vanish")
{
	CHECK_STR(folded("n", NULL, "12345678901234567890123456789012345678901234567890123456789012345678", false),
		  "    n = 12345678901234567890123456789012345678901234567890123456789012345678\n");
	CHECK_STR(folded("n", NULL, ",a,,b,", false), "    n = a,b\n");
	CHECK_STR(folded("n", "r", "", false), "    n.r = \n");
}

TEST("-1 folds nothing, and a newline never breaks a line")
{
	CHECK_STR(folded("n", NULL, "a,,\nb", true), "    n = a,,\\nb\n");
	CHECK_STR(folded("Resource_List", "nodes", "1:ppn=2", false), "    Resource_List.nodes = 1:ppn=2\n");
}

TEST("XML says what a value means, whatever it contains")
{
	struct sbuf out = SBUF(4096);

	xml_element("comment", "a < b & \"c\" > 'd'\001\n训", &out);
	CHECK_STR(out.p, "<comment>a &lt; b &amp; &quot;c&quot; &gt; &apos;d&apos;&#10;训</comment>");
	sbuf_reset(&out);
	xml_element("9 odd<name", "", &out);
	CHECK_STR(out.p, "<_9_odd_name></_9_odd_name>");
	sbuf_done(&out);
}

TEST("slots are counted out one by one, and cards of one node put together")
{
	struct sbuf out = SBUF(4096);

	slots_expand(STR("G102/0-1,4+G103/0+G104"), &out);
	CHECK_STR(out.p, "G102/0+G102/1+G102/4+G103/0+G104/0");
	sbuf_reset(&out);
	slots_short_gpus(STR("G145-gpu/7+G145-gpu/6+G145-gpu/5+G146-gpu/0"), &out);
	CHECK_STR(out.p, "G145-gpu/7/6/5+G146-gpu/0");
	sbuf_reset(&out);
	slots_expand(STR("G102/x+G103/3-1+G104/999999999999"), &out);
	CHECK_INT(out.n, 0);
	sbuf_done(&out);
}
