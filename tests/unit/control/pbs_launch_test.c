// SPDX-License-Identifier: Apache-2.0
/* The account of PBS jobs of several nodes: made once in a namespace, and tried again if it cannot be. */
#include "control/pbs_launch.h"

#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

/* A client that answers when it is told to. */
struct fake {
	struct client base;
	client_done *done;
	void *arg;
	struct sbuf asked; /* "plural " of each creation */
	int looks;
};

static void do_create(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	struct fake *f = (struct fake *)c;

	CHECK_STR(jsonx_str_or(obj, "metadata.name", ""), "launcher");
	sbuf_addf(&f->asked, "%s/%s ", ref->ns, ref->plural);
	f->done = done;
	f->arg = arg;
}

static void answer(struct fake *f, enum err_kind kind)
{
	struct err e = ERR_INIT;

	if (kind != ERR_NONE)
		err_set(&e, kind, "no");
	TAKE(f->done)(f->arg, NULL, &e);
}

static void on_look(void *arg, const char *key)
{
	struct fake *f = arg;

	CHECK_STR(key, "anna/7");
	f->looks++;
}

TEST("an account is made once, and what is there already is left alone")
{
	static const struct client_ops ops = { .create = do_create };
	struct fake f = { .base = { .ops = &ops }, .asked = SBUF(1024) };
	struct pbs_launch *l = pbs_launch_new(&f.base, "launcher", on_look, &f);
	const char *why;

	CHECK(!pbs_launch_ready(l, "anna", "anna/7", &why) && !why);
	CHECK(!pbs_launch_ready(l, "anna", "anna/7", &why)); /* one question at a time */
	answer(&f, ERR_EXISTS);
	answer(&f, ERR_NONE);
	CHECK_INT(f.looks, 0);
	answer(&f, ERR_NONE);
	CHECK_INT(f.looks, 1);
	CHECK(pbs_launch_ready(l, "anna", "anna/7", &why));
	CHECK_STR(f.asked.p, "anna/serviceaccounts anna/roles anna/rolebindings ");
	pbs_launch_free(l);
	sbuf_done(&f.asked);
}

TEST("an account that cannot be made is a reason to wait, and is tried again")
{
	static const struct client_ops ops = { .create = do_create };
	struct fake f = { .base = { .ops = &ops }, .asked = SBUF(1024) };
	struct pbs_launch *l = pbs_launch_new(&f.base, "launcher", on_look, &f);
	const char *why;

	CHECK(!pbs_launch_ready(l, "anna", "anna/7", &why));
	answer(&f, ERR_NONE);
	answer(&f, ERR_FORBIDDEN);
	CHECK_INT(f.looks, 1);
	CHECK(!pbs_launch_ready(l, "anna", "anna/7", &why));
	CHECK_STR(why, "the service account launcher of its pods cannot be made: no");
	CHECK(!f.done);
	CHECK(!pbs_launch_ready(l, "anna", "anna/7", &why));
	CHECK_STR(f.asked.p, "anna/serviceaccounts anna/roles anna/roles ");
	pbs_launch_free(l); /* while an answer is to come */
	answer(&f, ERR_NONE);
	sbuf_done(&f.asked);
}
