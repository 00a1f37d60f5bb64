// SPDX-License-Identifier: Apache-2.0
/* dsh_far.c - see dsh_far.h
 *
 * The node file has a line for each slot, in the order of the ranks; so the node of a rank is on the first of its
 * lines.
 */
#include "pbs/dsh_far.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_far.h"
#include "kinds/pbs_nodes.h"

static int read_pods(const json_t *names, const struct pbs_nodes *nodes, struct str lines, json_t *pods, struct err *e)
{
	struct str line = { 0 };
	size_t rank = 0;

	for (size_t i = 0; i < nodes->n; i++)
		for (int k = 0; k < nodes->reqs[i].count; k++, rank++) {
			const char *name = json_string_value(json_array_get(names, rank));

			for (int slot = 0; slot < (nodes->reqs[i].ppn > 0 ? nodes->reqs[i].ppn : 1); slot++) {
				struct str next;

				if (!lines.n || !str_split(&lines, '\n', &next))
					return err_set(e, ERR_INVALID, "the node file has too few lines");
				if (slot == 0)
					line = next;
			}
			if (!name)
				return err_set(e, ERR_INVALID, PBS_FAR_JOB ": a pod has no name");
			json_array_append_new(pods, json_pack("{s:{s:s}, s:{s:o}}", "metadata", "name", name, "spec",
							      "nodeName", jsonx_stringn(line.p, line.n)));
		}
	return 0;
}

int dsh_far(const char *text, struct str node_file, json_t **ret_job, json_t **ret_pods, struct err *e)
{
	json_auto_t *doc = NULL;
	json_auto_t *pods = json_array();
	struct pbs_nodes nodes = { 0 };
	int r;

	if (jsonx_parse(text, strlen(text), NULL, NULL, &doc, e) < 0)
		return err_prefix(e, PBS_FAR_JOB);
	if (!jsonx_str(doc, "namespace"))
		return err_set(e, ERR_INVALID, PBS_FAR_JOB ": it has no namespace");
	if (pbs_nodes_of(json_object_get(doc, "resources"), &nodes, e) < 0)
		return err_prefix(e, PBS_FAR_JOB);
	r = read_pods(json_object_get(doc, "pods"), &nodes, node_file, pods, e);
	pbs_nodes_done(&nodes);
	if (r < 0)
		return -1;
	*ret_job = json_pack("{s:{s:O}, s:{s:O?}}", "metadata", "namespace", json_object_get(doc, "namespace"), "spec",
			     "resources", json_object_get(doc, "resources"));
	*ret_pods = json_incref(pods);
	return 0;
}
