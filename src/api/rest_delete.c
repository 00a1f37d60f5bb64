// SPDX-License-Identifier: Apache-2.0
/* rest_delete.c - DELETE of a collection: the answer comes when the last of it is deleted */
#include "api/exchange.h"
#include "api/sweep.h"

static void on_swept(void *arg, const struct err *e)
{
	struct exchange *x = arg;
	struct status_subject about = { x->req.kind, NULL };

	x->sweep = NULL;
	x->err = *e;
	if (e->kind == ERR_NONE) {
		x->result.code = 200;
		x->result.object = status_success(&about, NULL);
	}
	exchange_finish(x);
}

void rest_delete_collection(struct exchange *x)
{
	if (sweep_start(x->rest->api, &x->req, on_swept, x, &x->sweep, &x->err) < 0)
		exchange_finish(x);
}
