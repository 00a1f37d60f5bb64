// SPDX-License-Identifier: Apache-2.0
/* Where a server is, by its URL. */
#include "client/ask.h"

#include "base/mem.h"
#include "test.h"

TEST("the parts of a server's URL")
{
	static const struct {
		const char *text, *host;
		int port;
		const char *prefix;
		bool plain;
	} rows[] = {
		{ "https://10.0.0.7:6443", "10.0.0.7", 6443, "", false },
		{ "https://lab.example.org", "lab.example.org", 443, "", false },
		{ "https://lab:6443/", "lab", 6443, "", false },
		{ "https://lab/k8s/clusters/c-1", "lab", 443, "/k8s/clusters/c-1", false },
		{ "https://[fd00::1]:6443/x", "fd00::1", 6443, "/x", false },
		{ "https://[fd00::1]", "fd00::1", 443, "", false },
		{ "http://127.0.0.1:8001", "127.0.0.1", 8001, "", true },
		{ "https://", NULL, 0, NULL, false },
		{ "https://:6443", NULL, 0, NULL, false },
		{ "https://lab:x", NULL, 0, NULL, false },
		{ "https://lab:70000", NULL, 0, NULL, false },
		{ "https://[fd00::1", NULL, 0, NULL, false },
		{ "lab:6443", NULL, 0, NULL, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct server_url url;

		if (!server_url_parse(rows[i].text, &url)) {
			CHECK(!rows[i].host);
			continue;
		}
		CHECK_STR(url.host, rows[i].host);
		CHECK_INT(url.port, rows[i].port);
		CHECK_STR(url.prefix, rows[i].prefix);
		CHECK_INT(url.plain, rows[i].plain);
		free(url.host);
	}
}
