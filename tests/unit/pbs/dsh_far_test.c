// SPDX-License-Identifier: Apache-2.0
/* What pbsdsh makes of its environment in a pod of another cluster. */
#include "pbs/dsh_far.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define JOB(pods_, nodes_) "{\"namespace\":\"anna\",\"pods\":[" pods_ "],\"resources\":{\"nodes\":\"" nodes_ "\"}}"

TEST("a job's pods and their nodes come from the environment and the node file")
{
	static const struct {
		const char *text, *lines;
		const char *pods; /* "name@node ...", or the error */
	} rows[] = {
		{ JOB("\"7-0\",\"7-1\"", "2"), "G1\nG2\n", "7-0@G1 7-1@G2 " },
		{ JOB("\"7-0\",\"7-1\",\"7-2\"", "2:ppn=2+1"), "G1\nG1\nG2\nG2\nG3\n", "7-0@G1 7-1@G2 7-2@G3 " },
		{ JOB("\"7-0\",\"7-1\"", "2"), "G1\nG1", "7-0@G1 7-1@G1 " },
		{ JOB("\"7-0\",\"7-1\"", "2"), "G1\n", "the node file has too few lines" },
		{ JOB("\"7-0\",\"7-1\"", "2:ppn=2"), "G1\nG1\nG2\n", "the node file has too few lines" },
		{ JOB("\"7-0\"", "2"), "G1\nG2\n", "STOKER_PBS_JOB: a pod has no name" },
		{ "{\"pods\":[]}", "", "STOKER_PBS_JOB: it has no namespace" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(1024);
		json_auto_t *job = NULL;
		json_auto_t *pods = NULL;
		struct err e = ERR_INIT;
		json_t *pod;
		size_t k;

		if (dsh_far(rows[i].text, str_of(rows[i].lines), &job, &pods, &e) < 0) {
			CHECK_STR(e.text, rows[i].pods);
			continue;
		}
		json_array_foreach (pods, k, pod)
			sbuf_addf(&out, "%s@%s ", jsonx_str_or(pod, "metadata.name", ""),
				  jsonx_str_or(pod, "spec.nodeName", ""));
		CHECK_STR(out.p, rows[i].pods);
		CHECK_STR(jsonx_str_or(job, "metadata.namespace", ""), "anna");
	}
}

TEST("what is no JSON is said to be of which variable")
{
	json_auto_t *job = NULL;
	json_auto_t *pods = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(dsh_far("{", STR(""), &job, &pods, &e), -1);
	CHECK(str_starts(e.text, "STOKER_PBS_JOB: "));
}
