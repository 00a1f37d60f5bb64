// SPDX-License-Identifier: Apache-2.0
/* after.h - what must have ended before a workload starts: "ok:tfjob/prepare,any:job/clean,notok:pbsjob/7"; pure */
#ifndef STOKER_KINDS_AFTER_H
#define STOKER_KINDS_AFTER_H

#include "kinds/kind.h"

#define AFTER_MOST 100 /* workloads that one waits for */
#define AFTER_NAME 254

enum after_how { AFTER_OK, AFTER_NOTOK, AFTER_ANY };

/* One that is waited for, in the same namespace. */
struct after {
	enum after_how how;
	const struct kind *kind; /* one that ends */
	char name[AFTER_NAME];
};

/* An empty text is none.  The caller frees *ret.  ERR_INVALID says which part is wrong and what is allowed. */
int after_parse(const char *text, struct after **ret, size_t *ret_n, struct err *e);
/* "ok", "notok", "any" */
const char *after_how_name(enum after_how how);

#endif
