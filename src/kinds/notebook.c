// SPDX-License-Identifier: Apache-2.0
/* notebook.c - kubeflow.org/v1 Notebook: one pod with a notebook server, kept until it is deleted */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field template_fields[] = {
	F(0, "metadata", OBJECT, .msg = &meta_object, .doc = "Labels and annotations of the pod."),
	F(0, "spec", OBJECT, .msg = &core_pod_spec, .flags = FIELD_REQUIRED, .doc = "The pod."),
};

static const struct message template =
	MESSAGE("org.kubeflow.v1.NotebookTemplateSpec", template_fields, .doc = "The pod that serves the notebook.");

static const struct field spec_fields[] = {
	F(0, "template", OBJECT, .msg = &template, .flags = FIELD_REQUIRED, .doc = "The pod that serves the notebook."),
};

static const struct message spec = MESSAGE("org.kubeflow.v1.NotebookSpec", spec_fields, .doc = "What is wanted.");

static const struct field condition_fields[] = {
	F(0, "type", STRING, .flags = FIELD_REQUIRED,
	  .doc = "Running, Waiting, Terminated, or a condition of the pod."),
	F(0, "status", STRING, .doc = "True, False or Unknown."),
	F(0, "reason", STRING, .doc = "One word for programs."),
	F(0, "message", STRING, .doc = "The same for people."),
	F(0, "lastProbeTime", TIME, .doc = "When this was last looked at."),
	F(0, "lastTransitionTime", TIME, .doc = "When status last changed."),
};

static const struct message condition =
	MESSAGE("org.kubeflow.v1.NotebookCondition", condition_fields, .doc = "One fact about a Notebook.");

static const struct field status_fields[] = {
	FL(0, "conditions", OBJECT, .msg = &condition, .flags = FIELD_ATOMIC, .doc = "How the Notebook stands."),
	F(0, "readyReplicas", INT32, .doc = "1 when it can be used."),
	F(0, "containerState", ANY, .doc = "State of its container: waiting, running or terminated."),
	F(0, "url", STRING, .doc = "Where it is served."),
};

static const struct message status =
	MESSAGE("org.kubeflow.v1.NotebookStatus", status_fields, .doc = "What the controller last saw of a Notebook.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "What is wanted."),
	F(0, "status", OBJECT, .msg = &status, .doc = "How it stands; written by the controller."),
};

static const struct message notebook =
	MESSAGE("org.kubeflow.v1.Notebook", fields, .doc = "A notebook server, such as Jupyter, for one person.");

CELL_INT(cell_ready, "status.readyReplicas")
CELL_STR(cell_url, "status.url", "<none>")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN_INT("Ready", "1 when it can be used.", cell_ready),
	COLUMN("URL", "Where it is served.", cell_url),
	COLUMN_AGE,
};

const struct kind kind_notebook = {
	.group = "kubeflow.org",
	.version = "v1",
	.kind = "Notebook",
	.plural = "notebooks",
	.singular = "notebook",
	.namespaced = true,
	.name_rule = NAME_LABEL_1035,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &notebook,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = status_begin,
};
