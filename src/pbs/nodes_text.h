// SPDX-License-Identifier: Apache-2.0
/* nodes_text.h - nodes as pbsnodes writes them: as text, as XML, or one a line.  Pure */
#ifndef STOKER_PBS_NODES_TEXT_H
#define STOKER_PBS_NODES_TEXT_H

#include "pbs/job_attributes.h"
#include "pbs/nodes_view.h"

/* What is used of a node now, as metrics.k8s.io says. */
struct node_use {
	bool known;
	int64_t load_milli, memory; /* the load below 0: not known */
};

/* `use` may be NULL. */
void node_attributes(const struct node_view *v, const struct node_use *use, struct pbs_attributes *ret);
void node_text(const char *name, const struct pbs_attributes *a, struct sbuf *out);
void node_xml(const char *name, const struct pbs_attributes *a, struct sbuf *out);
/* pbsnodes -l, with its note if `note`. */
void node_line(const struct node_view *v, bool note, struct sbuf *out);

#endif
