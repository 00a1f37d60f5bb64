// SPDX-License-Identifier: Apache-2.0
/* rest_log.c - GET .../pods/NAME/log */
#include "api/exchange.h"

void rest_log(struct exchange *x)
{
	json_auto_t *pod = NULL;
	struct kubelet *kubelet;

	if (rest_pod_get(x, &pod, &kubelet, &x->err) == 0)
		err_set(&x->err, ERR_UNAVAILABLE, "this server runs no pods");
	exchange_finish(x);
}
