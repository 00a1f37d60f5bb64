// SPDX-License-Identifier: Apache-2.0
/* inference_service.c - serving.kserve.io/v1beta1 InferenceService: a model that answers requests
 *
 * A component (predictor, transformer, explainer) is a pod spec with more fields.  Its `containers` may be missing, and
 * the pod's defaults belong to the pod and not here, so the pod's fields are listed rather than taken over whole.
 */
#include "kinds/cells.h"
#include "kinds/condition.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

#define KSERVE "io.kserve.serving.v1beta1."

static const struct field format_fields[] = {
	F(0, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Format of the model, such as pytorch, onnx or sklearn."),
	F(0, "version", STRING, .doc = "Version of the format."),
};

static const struct message model_format =
	MESSAGE(KSERVE "ModelFormat", format_fields, .doc = "What a model is written in.");

static const struct field storage_fields[] = {
	F(0, "key", STRING, .doc = "Which storage of the storage secret."),
	F(0, "path", STRING, .doc = "Path of the model in it."),
	FM(0, "parameters", STRING, .doc = "Settings of the storage."),
	F(0, "schemaPath", STRING, .doc = "Path of the model's schema."),
};

static const struct message storage = MESSAGE(KSERVE "StorageSpec", storage_fields, .doc = "Where a model is stored.");

/* A model server is a container whose name and image may be left to the runtime. */
#define SERVER_ROWS                                                                                                    \
	F(0, "storageUri", STRING,                                                                                     \
	  .doc = "Where the model is, such as pvc://claim/path, s3://bucket/path or file:///x."),                      \
		F(0, "storage", OBJECT, .msg = &storage, .doc = "Where the model is, by a storage secret."),           \
		F(0, "runtimeVersion", STRING, .doc = "Version of the server."),                                       \
		F(0, "protocolVersion", STRING, .doc = "What the server speaks: v1, v2 or grpc-v2."),                  \
		F(0, "name", STRING, .doc = "Name of the container."),                                                 \
		F(0, "image", STRING, .doc = "Image of the server, if not the runtime's."),                            \
		F(0, "imagePullPolicy", STRING, .values = "Always|IfNotPresent|Never", .doc = "When to pull it."),     \
		FL(0, "command", STRING, .flags = FIELD_ATOMIC, .doc = "Command of the server."),                      \
		FL(0, "args", STRING, .flags = FIELD_ATOMIC, .doc = "Arguments of the server."),                       \
		F(0, "workingDir", STRING, .doc = "Its working directory."),                                           \
		FL(0, "env", OBJECT, .msg = &core_env_var, .merge_key = "name", .doc = "Its environment."),            \
		FL(0, "envFrom", OBJECT, .msg = &core_env_from_source, .flags = FIELD_ATOMIC,                          \
		   .doc = "Its environment, from ConfigMaps and Secrets."),                                            \
		FL(0, "ports", OBJECT, .msg = &core_container_port, .merge_key = "containerPort",                      \
		   .list_keys = "containerPort,protocol", .doc = "Its ports."),                                        \
		F(0, "resources", OBJECT, .msg = &core_resource_requirements, .doc = "Processors, memory and GPUs."),  \
		FL(0, "volumeMounts", OBJECT, .msg = &core_volume_mount, .merge_key = "mountPath",                     \
		   .doc = "Volumes it sees."),                                                                         \
		F(0, "livenessProbe", OBJECT, .msg = &core_probe, .doc = "How to see that it lives."),                 \
		F(0, "readinessProbe", OBJECT, .msg = &core_probe, .doc = "How to see that it is ready."),             \
		F(0, "startupProbe", OBJECT, .msg = &core_probe, .doc = "How to see that it has started."),            \
		F(0, "securityContext", OBJECT, .msg = &core_security_context, .doc = "What it may do.")

static const struct field model_fields[] = {
	F(0, "modelFormat", OBJECT, .msg = &model_format, .flags = FIELD_REQUIRED,
	  .doc = "What the model is written in."),
	F(0, "runtime", STRING, .doc = "The serving runtime to use; chosen by modelFormat by default."),
	SERVER_ROWS,
};

static const struct message model = MESSAGE(KSERVE "ModelSpec", model_fields, .doc = "A model and what serves it.");

static const struct field framework_fields[] = { SERVER_ROWS };

static const struct message framework =
	MESSAGE(KSERVE "PredictorExtensionSpec", framework_fields, .doc = "A model, and the server of its framework.");

static const struct field logger_fields[] = {
	F(0, "url", STRING, .doc = "Where requests and answers are sent."),
	F(0, "mode", STRING, .values = "all|request|response", .doc = "Which of them."),
};

static const struct message logger = MESSAGE(KSERVE "LoggerSpec", logger_fields, .doc = "Who is told of requests.");

static const struct field batcher_fields[] = {
	F(0, "maxBatchSize", INT32, .has_min = true, .doc = "Most requests in a batch."),
	F(0, "maxLatency", INT32, .has_min = true, .doc = "Milliseconds to wait for a batch to fill."),
	F(0, "timeout", INT32, .has_min = true, .doc = "Seconds to wait for an answer."),
};

static const struct message batcher =
	MESSAGE(KSERVE "Batcher", batcher_fields, .doc = "How requests are put together.");

/* How a component runs, and the fields of its pod. */
#define COMPONENT_ROWS                                                                                                 \
	F(0, "minReplicas", INT32, .has_min = true, .doc = "Fewest pods; 0 lets it sleep. 1 by default."),             \
		F(0, "maxReplicas", INT32, .has_min = true, .doc = "Most pods."),                                      \
		F(0, "scaleTarget", INT32, .has_min = true, .doc = "Value of scaleMetric to aim at."),                 \
		F(0, "scaleMetric", STRING, .values = "cpu|memory|concurrency|rps", .doc = "Measure of the load."),    \
		F(0, "containerConcurrency", INT64, .has_min = true, .doc = "Most requests at a time in one pod."),    \
		F(0, "timeout", INT64, .has_min = true, .doc = "Seconds a request may take."),                         \
		F(0, "canaryTrafficPercent", INT64, .has_min = true,                                                   \
		  .doc = "Share of requests for the newest version."),                                                 \
		F(0, "logger", OBJECT, .msg = &logger, .doc = "Who is told of requests."),                             \
		F(0, "batcher", OBJECT, .msg = &batcher, .doc = "How requests are put together."),                     \
		FM(0, "labels", STRING, .doc = "Labels of the pods."),                                                 \
		FM(0, "annotations", STRING, .doc = "Annotations of the pods."),                                       \
		FL(0, "containers", OBJECT, .msg = &core_container, .merge_key = "name",                               \
		   .doc = "Containers of one's own instead of a model."),                                              \
		FL(0, "initContainers", OBJECT, .msg = &core_container, .merge_key = "name",                           \
		   .doc = "Containers that run first."),                                                               \
		FL(0, "volumes", OBJECT, .msg = &core_volume, .merge_key = "name", .flags = FIELD_RETAIN_KEYS,         \
		   .doc = "Volumes of the pods."),                                                                     \
		FM(0, "nodeSelector", STRING, .flags = FIELD_ATOMIC, .doc = "Labels of the nodes to run on."),         \
		F(0, "affinity", OBJECT, .msg = &core_affinity, .doc = "Where to run, in more words."),                \
		FL(0, "tolerations", OBJECT, .msg = &core_toleration, .flags = FIELD_ATOMIC,                           \
		   .doc = "Taints to bear."),                                                                          \
		F(0, "serviceAccountName", STRING, .doc = "ServiceAccount of the pods."),                              \
		FL(0, "imagePullSecrets", OBJECT, .msg = &core_local_object_reference, .merge_key = "name",            \
		   .doc = "Secrets with which images are pulled."),                                                    \
		F(0, "priorityClassName", STRING, .doc = "PriorityClass of the pods."),                                \
		F(0, "schedulerName", STRING, .doc = "Scheduler of the pods."),                                        \
		F(0, "runtimeClassName", STRING, .doc = "RuntimeClass of the pods."),                                  \
		F(0, "hostNetwork", BOOL, .doc = "Whether the pods use the node's network."),                          \
		F(0, "terminationGracePeriodSeconds", INT64, .has_min = true,                                          \
		  .doc = "Seconds a pod is given to end."),                                                            \
		F(0, "securityContext", OBJECT, .msg = &core_pod_security_context, .doc = "What the pods may do.")

#define FRAMEWORK(name_) F(0, name_, OBJECT, .msg = &framework, .doc = "A " name_ " model; model says the same today.")

static const struct field predictor_fields[] = {
	F(0, "model", OBJECT, .msg = &model, .doc = "A model and what serves it."),
	FRAMEWORK("sklearn"),
	FRAMEWORK("xgboost"),
	FRAMEWORK("tensorflow"),
	FRAMEWORK("pytorch"),
	FRAMEWORK("triton"),
	FRAMEWORK("onnx"),
	FRAMEWORK("huggingface"),
	FRAMEWORK("pmml"),
	FRAMEWORK("lightgbm"),
	FRAMEWORK("paddle"),
	COMPONENT_ROWS,
};

static const char *const frameworks[] = { "model", "sklearn",     "xgboost", "tensorflow", "pytorch", "triton",
					  "onnx",  "huggingface", "pmml",    "lightgbm",   "paddle" };

/* The container that serves is known by this name. */
static void component_defaults(json_t *obj)
{
	json_t *first = json_array_get(json_object_get(obj, "containers"), 0);

	if (json_is_object(first) && value_is_empty(json_object_get(first, "name")))
		json_object_set_new(first, "name", json_string("kserve-container"));
	set_if_absent(obj, "minReplicas", json_integer(1));
}

static void component_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *max = json_object_get(obj, "maxReplicas");
	const json_t *canary = json_object_get(obj, "canaryTrafficPercent");

	if (max && json_integer_value(max) > 0 && json_integer_value(max) < jsonx_int_or(obj, "minReplicas", 0))
		path_invalid(PATH_FIELD(at, "maxReplicas"), e, max, "must be greater than or equal to minReplicas");
	if (canary && json_integer_value(canary) > 100)
		path_invalid(PATH_FIELD(at, "canaryTrafficPercent"), e, canary, "must be between 0 and 100, inclusive");
}

static void predictor_validate(const json_t *obj, const struct path *at, struct err *e)
{
	size_t n = !value_is_empty(json_object_get(obj, "containers"));

	for (size_t i = 0; i < ARRAY_SIZE(frameworks); i++)
		n += json_object_get(obj, frameworks[i]) != NULL;
	if (n == 0)
		path_required(at, e, "a model or containers must be specified");
	else if (n > 1 && value_is_empty(json_object_get(obj, "containers")))
		path_invalid(at, e, json_null(), "exactly one model must be specified");
	component_validate(obj, at, e);
}

static const struct message predictor =
	MESSAGE(KSERVE "PredictorSpec", predictor_fields, .doc = "What answers requests.",
		.defaults = component_defaults, .validate = predictor_validate);

static const struct field component_fields[] = { COMPONENT_ROWS };

static const struct message transformer =
	MESSAGE(KSERVE "TransformerSpec", component_fields, .doc = "What changes requests and answers on their way.",
		.defaults = component_defaults, .validate = component_validate);
static const struct message explainer =
	MESSAGE(KSERVE "ExplainerSpec", component_fields, .doc = "What explains answers.",
		.defaults = component_defaults, .validate = component_validate);

static const struct field spec_fields[] = {
	F(0, "predictor", OBJECT, .msg = &predictor, .flags = FIELD_REQUIRED, .doc = "What answers requests."),
	F(0, "transformer", OBJECT, .msg = &transformer, .doc = "What changes requests and answers on their way."),
	F(0, "explainer", OBJECT, .msg = &explainer, .doc = "What explains answers."),
};

static const struct message spec = MESSAGE(KSERVE "InferenceServiceSpec", spec_fields, .doc = "What is wanted.");

static const struct field condition_fields[] = {
	F(0, "type", STRING, .flags = FIELD_REQUIRED, .doc = "Ready, PredictorReady and so on."),
	F(0, "status", STRING, .flags = FIELD_REQUIRED, .doc = "True, False or Unknown."),
	F(0, "severity", STRING, .doc = "How bad it is."),
	F(0, "lastTransitionTime", TIME, .doc = "When status last changed."),
	F(0, "reason", STRING, .doc = "One word for programs."),
	F(0, "message", STRING, .doc = "The same for people."),
};

static const struct message condition = MESSAGE(KSERVE "Condition", condition_fields, .doc = "One fact.");

static const struct field address_fields[] = {
	F(0, "url", STRING, .doc = "Where it answers inside the cluster."),
};

static const struct message address = MESSAGE(KSERVE "Addressable", address_fields, .doc = "An address.");

static const struct field status_fields[] = {
	FL(0, "conditions", OBJECT, .msg = &condition, .merge_key = "type", .doc = "How it stands."),
	F(0, "url", STRING, .doc = "Where it answers."),
	F(0, "address", OBJECT, .msg = &address, .doc = "Where it answers inside the cluster."),
	FM(0, "components", ANY, .doc = "How each component stands."),
	F(0, "modelStatus", ANY, .doc = "How the model's loading stands."),
	F(0, "observedGeneration", INT64, .doc = "The metadata.generation that this status is about."),
	FM(0, "annotations", STRING, .doc = "Notes of the controller."),
};

static const struct message status =
	MESSAGE(KSERVE "InferenceServiceStatus", status_fields, .doc = "What the controller last saw.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "What is wanted."),
	F(0, "status", OBJECT, .msg = &status, .doc = "How it stands; written by the controller."),
};

static const struct message inference_service =
	MESSAGE(KSERVE "InferenceService", fields, .doc = "Serves a model: pods that answer requests.");

CELL_STR(cell_url, "status.url", "")

static json_t *cell_ready(const json_t *obj, int64_t now)
{
	const json_t *c = condition_of(obj, "Ready");

	(void)now;
	return c ? jsonx_string(jsonx_str_or(c, "status", "Unknown")) : json_null();
}

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("URL", "Where it answers.", cell_url),
	COLUMN("Ready", "Whether it answers.", cell_ready),
	COLUMN_AGE,
};

static const char *const short_names[] = { "isvc", NULL };

const struct kind kind_inference_service = {
	.group = "serving.kserve.io",
	.version = "v1beta1",
	.kind = "InferenceService",
	.plural = "inferenceservices",
	.singular = "inferenceservice",
	.short_names = short_names,
	.namespaced = true,
	.name_rule = NAME_LABEL_1035,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &inference_service,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = status_begin,
};
