// SPDX-License-Identifier: Apache-2.0
/* cluster.h - who takes part in a training, and which of them this process is
 *
 * Told by TF_CONFIG, in the forms that TFJob operators have used, or by options.  Chief (or master) and workers all
 * train; the chief, or worker 0 where there is none, has rank 0 and leads.
 */
#ifndef STOKER_PSGD_CLUSTER_H
#define STOKER_PSGD_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum role { ROLE_CHIEF, ROLE_WORKER, ROLE_PS, ROLE_EVALUATOR, ROLE__COUNT };

struct cluster {
	char **servers; /* host:port */
	size_t nservers;
	size_t workers; /* 0: not told, in the sparse form of TF_CONFIG */
	bool chief;
	enum role role;
	size_t index;
};

/* `text` is the value of TF_CONFIG.  Errors name the field and what it has. */
int cluster_from_tf_config(const char *text, struct cluster *ret, struct err *e);
/* "worker:1" among `workers` workers (and a chief) with the servers "a:1,b:2". */
int cluster_from_options(const char *task, const char *servers, size_t workers, bool chief, struct cluster *ret,
			 struct err *e);
/* Whether this task can be part of it: called when the number of workers is known. */
int cluster_check(const struct cluster *c, struct err *e);
void cluster_done(struct cluster *c);

const char *role_name(enum role role);
size_t cluster_ranks(const struct cluster *c);
size_t cluster_rank(const struct cluster *c);

#endif
