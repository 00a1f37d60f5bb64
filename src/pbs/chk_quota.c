// SPDX-License-Identifier: Apache-2.0
/* chk_quota.c - chk_quota: how much of their quota users take in the roots that they share
 *
 * It reports; it enforces nothing.  What counts is what is there: the directory ROOT/USER is walked with the rights of
 * whoever asks, so a row may say that it does not know all.  Rows come one by one, because a walk may take long.
 */
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "base/tree_size.h"
#include "kinds/pbs_values.h"
#include "pbs/about.h"
#include "pbs/quota.h"

static const char usage[] = "usage: chk_quota [user]\n";

static void show(const char *root, const char *user, int64_t quota)
{
	auto_sbuf struct sbuf row = SBUF(1u << 16);
	auto_free char *path = xasprintf("%s/%s", root, user);
	struct tree_size t = { .left = INT64_MAX };
	int why = tree_size(path, &t) < 0 ? errno : 0;

	quota_row(path, &t, why, quota, &row);
	about_write(&row, stdout);
	fflush(stdout);
}

static void show_all(const char *root, int64_t quota)
{
	struct dirent **entries;
	int n = scandir(root, &entries, NULL, alphasort);

	if (n < 0)
		fprintf(stderr, "chk_quota: %s: %s\n", root, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.' && entries[i]->d_type == DT_DIR)
			show(root, entries[i]->d_name, quota);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static void show_roots(const json_t *quotas, const char *user)
{
	json_t *v;
	size_t i;

	quota_head(stdout);
	json_array_foreach ((json_t *)quotas, i, v) {
		auto_free char *text = xstrdup(json_string_value(v));
		int64_t bytes;

		if (!pbs_root_quota_parse(text, &bytes))
			continue;
		*strrchr(text, '=') = '\0';
		if (user)
			show(text, user, bytes);
		else
			show_all(text, bytes);
	}
}

int chk_quota_main(struct pbs *p, int argc, char **argv)
{
	const struct passwd *self = getpwuid(getuid());
	const char *user = argc > 1 ? argv[1] : getuid() && self ? self->pw_name : NULL;
	const json_t *quotas;
	int status;

	if (about_asked(argc, argv, usage))
		return 0;
	if (argc > 2 || (argc > 1 && (argv[1][0] == '-' || strchr(argv[1], '/') || streq(argv[1], ".."))))
		return about_misuse(usage);
	quotas = jsonx_at(pbs_settings(p), "spec.rootQuotas");
	status = pbs_fail_connect(p);
	if (status)
		return status;
	if (!json_array_size(quotas)) {
		fprintf(stderr, "chk_quota: the server has no root_quotas\n");
		return 1;
	}
	show_roots(quotas, user);
	return 0;
}
