// SPDX-License-Identifier: Apache-2.0
/* rest_forward.c - pods/NAME/portforward: a pod's ports at the other end of the connection
 *
 * The exchange checks and hands the connection to loop/forward.h, which asks back for a socket to a port of the pod
 * each time the client connects.
 */
#include "api/exchange.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/forward.h"

struct ports {
	struct kubelet *kubelet;
	char *ns, *pod, *uid, *container;
};

static void ports_free(struct ports *p)
{
	free(p->ns);
	free(p->pod);
	free(p->uid);
	free(p->container);
	free(p);
}

static int on_dial(void *arg, int port, struct err *e)
{
	struct ports *p = arg;
	const struct kubelet_target of = { .ns = p->ns, .pod = p->pod, .uid = p->uid, .container = p->container };

	return p->kubelet->ops->dial(p->kubelet, &of, port, e);
}

static void on_closed(void *arg)
{
	ports_free(arg);
}

/* --- what is asked --- */

static int add_ports(const char *list, int *ports, size_t *n, struct err *e)
{
	struct str rest = str_of(list);
	struct str part;

	while (str_split(&rest, ',', &part)) {
		auto_free char *text = xstrndup(part.p, part.n);
		int64_t port;

		if (!str_int64(text, INT32_MIN, INT32_MAX, &port))
			return err_set(e, ERR_BAD_REQUEST, "unable to parse \"%.40s\" as a port", text);
		if (port < 1 || port > 65535)
			return err_set(e, ERR_BAD_REQUEST, "port %lld must be 1 to 65535", (long long)port);
		if (*n == FORWARD_PORTS_MAX)
			return err_set(e, ERR_BAD_REQUEST, "at most %d ports", FORWARD_PORTS_MAX);
		ports[(*n)++] = (int)port;
	}
	return 0;
}

/* `ports` may be repeated, and each a list. */
static int read_ports(const struct http_request *http, int *ports, size_t *n, struct err *e)
{
	auto_sbuf struct sbuf key = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf value = SBUF(LIMIT_URL);
	struct str rest = http_query(http);
	bool bad = false;

	while (http_query_next(&rest, &key, &value, &bad))
		if (key.p && streq(key.p, "ports") && add_ports(value.p ? value.p : "", ports, n, e) < 0)
			return -1;
	return 0;
}

static int begin(struct exchange *x, struct ports *p, struct err *e)
{
	const struct forward_handlers handlers = { .dial = on_dial, .closed = on_closed, .arg = p };
	const char *phase;
	struct forward *forward;
	json_auto_t *pod = NULL;
	int ports[FORWARD_PORTS_MAX];
	size_t nports = 0;

	if (read_ports(x->http, ports, &nports, e) < 0 || rest_pod_get(x, &pod, &p->kubelet, e) < 0)
		return -1;
	phase = jsonx_str_or(pod, "status.phase", "Pending");
	if (!*jsonx_str_or(pod, "spec.nodeName", ""))
		return err_set(e, ERR_BAD_REQUEST, "pod %s does not have a host assigned", x->req.name);
	if (!streq(phase, "Running"))
		return err_set(e, ERR_BAD_REQUEST,
			       "unable to forward port because pod is not running. Current status=%s", phase);
	p->ns = xstrdup(x->req.ns);
	p->pod = xstrdup(x->req.name);
	p->uid = xstrdup(jsonx_str_or(pod, "metadata.uid", ""));
	p->container = xstrdup(jsonx_str_or(json_array_get(jsonx_at(pod, "spec.containers"), 0), "name", ""));
	exchange_keep_peer(x);
	return forward_accept(x->http, ports, nports, &handlers, &forward, e);
}

void rest_portforward(struct exchange *x)
{
	struct ports *p = xcalloc(1, sizeof(*p));

	if (begin(x, p, &x->err) < 0) {
		ports_free(p);
		exchange_finish(x);
		return;
	}
	exchange_upgraded(x);
}
