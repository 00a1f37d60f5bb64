// SPDX-License-Identifier: Apache-2.0
/* operate_pbs.h - the PBS of `stoker operate --pbs DIR`
 *
 * PBS's own objects are kept in DIR by an API of the operator's own, the very one of `stoker serve`; qsub and the
 * others speak to it over a Unix socket.  Pods and nodes are the cluster's.
 */
#ifndef STOKER_CLI_OPERATE_PBS_H
#define STOKER_CLI_OPERATE_PBS_H

#include "client/client.h"
#include "control/control.h"

struct operate_pbs;

struct operate_pbs_config {
	const char *dir, *socket;
	const char *admin_group;             /* or NULL */
	const char *account;                 /* of jobs of several nodes (control/pbs_launch.h), or NULL */
	const struct client_options *remote; /* the cluster */
};

/* Answers on the socket from here on, whether or not the cluster does.  ERR_BAD_REQUEST if the cluster's own socket is
 * this one. */
int operate_pbs_open(struct loop *loop, const struct operate_pbs_config *config, struct operate_pbs **ret,
		     struct err *e);
void operate_pbs_close(struct operate_pbs *p);

/* Jobs become pods, held back as `admission` says until there is room for all of a run, through this client of the
 * cluster, until it is stopped; the client is freed in between, after operate_pbs_pause() and before
 * operate_pbs_stop(). */
struct gate_config;
void operate_pbs_start(struct operate_pbs *p, struct client *cluster, control_set set,
		       const struct gate_config *admission);
void operate_pbs_pause(struct operate_pbs *p);
void operate_pbs_stop(struct operate_pbs *p);
/* Its controllers, for metrics; NULL while they do not run. */
const struct control *operate_pbs_control(const struct operate_pbs *p);

#endif
