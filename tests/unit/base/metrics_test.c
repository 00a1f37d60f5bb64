// SPDX-License-Identifier: Apache-2.0
#include "base/metrics.h"

#include "test.h"

TEST("samples are written as Prometheus reads them")
{
	auto_sbuf struct sbuf out = SBUF(4096);

	metrics_family(&out, "a_total", "counter", "How many.");
	metrics_sample(&out, "a_total", 3, NULL);
	metrics_sample(&out, "a_total", 1e9, "name", "x", "odd", "a\"b\\c\nd", NULL);
	metrics_sample(&out, "a_total", 0.25, "name", "", NULL);
	metrics_sample(&out, "a_total", -1, NULL);
	CHECK_STR(out.p, "# HELP a_total How many.\n# TYPE a_total counter\n"
			 "a_total 3\n"
			 "a_total{name=\"x\",odd=\"a\\\"b\\\\c\\nd\"} 1000000000\n"
			 "a_total{name=\"\"} 0.25\n"
			 "a_total -1\n");
}

TEST("a process knows what it uses")
{
	auto_sbuf struct sbuf out = SBUF(4096);

	metrics_process(&out);
	CHECK(strstr(out.p, "stoker_build_info{version=\"") != NULL);
	CHECK(strstr(out.p, "\nprocess_resident_memory_bytes ") != NULL);
	CHECK(strstr(out.p, "\nprocess_resident_memory_bytes 0\n") == NULL);
	CHECK(strstr(out.p, "\nprocess_open_fds 0\n") == NULL);
	CHECK(strstr(out.p, "\nprocess_cpu_seconds_total ") != NULL);
}
