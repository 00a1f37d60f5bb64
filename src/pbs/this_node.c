// SPDX-License-Identifier: Apache-2.0
/* this_node.c - see this_node.h */
#include "pbs/this_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "kinds/pbs_nodes.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

bool this_node_is(const json_t *node, const char *boot)
{
	return *boot && streq(jsonx_str_or(node, "status.nodeInfo.bootID", ""), boot);
}

static void read_boot(char out[64])
{
	auto_sbuf struct sbuf text = SBUF(4096);
	struct err e = ERR_INIT;
	struct str line;

	file_read(BOOT_ID, 4096, &text, &e);
	line = str_trim(sbuf_str(&text));
	snprintf(out, 64, "%.*s", STR_FMT(line));
}

static bool is_own_name(const char *name)
{
	auto_sbuf struct sbuf host = SBUF(512);
	char whole[256] = "";

	pbs_host_name(&host);
	gethostname(whole, sizeof(whole) - 1);
	return strcasecmp(name, host.p) == 0 || strcasecmp(name, whole) == 0 || streq(name, "localhost");
}

static int get_node(struct pbs *p, const char *name, json_t **ret, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf object = SBUF(LIMIT_URL);

	sbuf_adds(&path, "/api/v1/nodes/");
	pbs_node_name(name, &object);
	client_escape(&path, object.p ? object.p : "");
	return pbs_get(p, path.p, ret, e);
}

/* The Node that this machine is, or NULL. */
static json_t *own_node(struct pbs *p, const char *boot)
{
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;
	json_t *node;
	size_t i;

	if (pbs_get(p, "/api/v1/nodes", &list, &e) < 0)
		return NULL;
	json_array_foreach (json_object_get(list, "items"), i, node)
		if (this_node_is(node, boot))
			return json_incref(node);
	return NULL;
}

int this_node_find(struct pbs *p, const char *asked, struct this_node *ret)
{
	auto_sbuf struct sbuf host = SBUF(512);
	struct err e = ERR_INIT;
	char boot[64];

	*ret = (struct this_node){ .here = !asked || is_own_name(asked) };
	read_boot(boot);
	if (asked && get_node(p, asked, &ret->node, &e) == 0)
		ret->here |= this_node_is(ret->node, boot);
	else if (ret->here)
		ret->node = own_node(p, boot);
	else if (e.kind != ERR_NOT_FOUND)
		return pbs_fail(p, &e, NULL);
	else
		return fprintf(stderr, "%s: there is no node %s\n", p->command, asked), 1;
	pbs_host_name(&host);
	ret->name = xstrdup(asked ? asked : ret->node ? pbs_host_of(ret->node) : host.p);
	return 0;
}

int this_node_need(struct pbs *p, const char *asked, struct this_node *ret)
{
	auto_sbuf struct sbuf host = SBUF(512);
	int status = this_node_find(p, asked, ret);

	if (status || ret->here)
		return status;
	pbs_host_name(&host);
	fprintf(stderr,
		"%s: %s is another machine than this one (%s), and servers tell nothing of the kind: run %s there\n",
		p->command, asked, host.p, p->command);
	this_node_done(ret);
	return 1;
}

void this_node_done(struct this_node *t)
{
	json_decref(t->node);
	free(t->name);
}
