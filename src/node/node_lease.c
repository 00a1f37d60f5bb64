// SPDX-License-Identifier: Apache-2.0
/* node_lease.c - renews the lease of this node
 *
 * One small write each ten seconds, so that the Node itself, which is large, need not be written more often than every
 * few minutes.  The lease belongs to the Node and goes with it: a lease that is gone means that the Node is, too, and
 * is made again only for the next one.
 */
#include "node/node_lease.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"

#define NAMESPACE        "kube-node-lease"
#define RENEW_MS         10000
#define RETRY_MS         2000
#define DURATION_SECONDS 40

struct node_lease {
	struct client *client;
	char *name, *uid;
	struct loop_timer timer;
	bool renewed;        /* it is there, as far as we know */
	unsigned failures;   /* in a row */
	bool calling, freed; /* the answer frees us */
	void (*lost)(void *arg);
	void *arg;
};

static void lease_free(struct node_lease *l)
{
	free(l->name);
	free(l->uid);
	free(l);
}

static json_t *spec_of(const struct node_lease *l)
{
	char now[CLOCK_MICRO_LEN];

	clock_rfc3339_micro(clock_wall_micros(), now);
	return json_pack("{s:s, s:i, s:s}", "holderIdentity", l->name, "leaseDurationSeconds", DURATION_SECONDS,
			 "renewTime", now);
}

static void on_made(void *arg, const json_t *obj, const struct err *e)
{
	struct node_lease *l = arg;
	bool was_lost = l->failures > 0;

	(void)obj;
	l->calling = false;
	if (l->freed) {
		lease_free(l);
		return;
	}
	if (e->kind == ERR_NONE) {
		l->renewed = true;
		l->failures = 0;
		loop_timer_set(l->client->loop, &l->timer, RENEW_MS);
		if (was_lost)
			l->lost(l->arg);
		return;
	}
	if (!l->failures++)
		log_warn("renew lease of node %s: %s, trying again", l->name, e->text);
	loop_timer_set(l->client->loop, &l->timer, RETRY_MS);
}

static void make(struct node_lease *l)
{
	struct ref ref = { .api_version = "coordination.k8s.io/v1", .plural = "leases", .ns = NAMESPACE };
	json_auto_t *doc = json_pack("{s:s, s:s, s:{s:s, s:s, s:[{s:s, s:s, s:s, s:s}]}, s:o}", "apiVersion",
				     "coordination.k8s.io/v1", "kind", "Lease", "metadata", "name", l->name,
				     "namespace", NAMESPACE, "ownerReferences", "apiVersion", "v1", "kind", "Node",
				     "name", l->name, "uid", l->uid, "spec", spec_of(l));

	l->client->ops->create(l->client, &ref, doc, on_made, l);
}

static void on_renewed(void *arg, const json_t *obj, const struct err *e)
{
	struct node_lease *l = arg;

	if (e->kind != ERR_NOT_FOUND || l->freed) {
		on_made(l, obj, e);
		return;
	}
	if (!l->renewed) {
		make(l);
		return;
	}
	l->calling = l->renewed = false;
	l->lost(l->arg);
}

static void renew(void *arg)
{
	struct node_lease *l = arg;
	struct ref ref = {
		.api_version = "coordination.k8s.io/v1", .plural = "leases", .ns = NAMESPACE, .name = l->name
	};
	json_auto_t *patch = NULL;

	if (l->calling)
		return;
	l->calling = true;
	patch = json_pack("{s:o}", "spec", spec_of(l));
	l->client->ops->patch(l->client, &ref, "merge", patch, on_renewed, l);
}

void node_lease_belongs_to(struct node_lease *l, const char *node_uid)
{
	if (!str_same(l->uid, node_uid)) {
		free(l->uid);
		l->uid = xstrdup(node_uid);
	}
	if (!l->renewed)
		renew(l);
}

struct node_lease *node_lease_new(struct client *c, const char *name, void (*lost)(void *arg), void *arg)
{
	struct node_lease *l = xcalloc(1, sizeof(*l));

	l->client = c;
	l->name = xstrdup(name);
	l->lost = lost;
	l->arg = arg;
	l->timer = (struct loop_timer){ .fire = renew, .arg = l };
	return l;
}

void node_lease_free(struct node_lease *l)
{
	if (!l)
		return;
	loop_timer_done(&l->timer);
	l->freed = true;
	if (!l->calling)
		lease_free(l);
}
