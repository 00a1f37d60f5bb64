// SPDX-License-Identifier: Apache-2.0
/* sample_types.h - a small pod, service and config map with every way a field can merge, for tests of patches */
#ifndef STOKER_TEST_SAMPLE_TYPES_H
#define STOKER_TEST_SAMPLE_TYPES_H

#include "kinds/kind.h"

static const struct field sample_env_fields[] = { F(1, "name", STRING), F(2, "value", STRING) };
static const struct message sample_env = MESSAGE("test.EnvVar", sample_env_fields);

static const struct field sample_port_fields[] = {
	F(1, "name", STRING),
	F(2, "port", INT32),
	F(3, "protocol", STRING, .dflt = "\"TCP\""),
	F(4, "targetPort", INTSTR),
};
static const struct message sample_port = MESSAGE("test.Port", sample_port_fields);

static const struct field sample_resources_fields[] = { FM(1, "limits", QUANTITY), FM(2, "requests", QUANTITY) };
static const struct message sample_resources = MESSAGE("test.Resources", sample_resources_fields);

static const struct field sample_container_fields[] = {
	F(1, "name", STRING),
	F(2, "image", STRING),
	FL(3, "args", STRING),
	FL(4, "env", OBJECT, .msg = &sample_env, .merge_key = "name"),
	FL(5, "ports", OBJECT, .msg = &sample_port, .merge_key = "port", .list_keys = "port,protocol"),
	F(6, "resources", OBJECT, .msg = &sample_resources),
};
static const struct message sample_container = MESSAGE("test.Container", sample_container_fields);

static const struct field sample_empty_dir_fields[] = { F(1, "medium", STRING) };
static const struct message sample_empty_dir = MESSAGE("test.EmptyDir", sample_empty_dir_fields);
static const struct field sample_volume_source_fields[] = {
	F(1, "emptyDir", OBJECT, .msg = &sample_empty_dir, .flags = FIELD_POINTER),
	F(2, "hostPath", ANY),
};
static const struct message sample_volume_source = MESSAGE("test.VolumeSource", sample_volume_source_fields);
static const struct field sample_volume_fields[] = {
	F(1, "name", STRING),
	F(2, "volumeSource", OBJECT, .msg = &sample_volume_source, .flags = FIELD_INLINE),
};
static const struct message sample_volume = MESSAGE("test.Volume", sample_volume_fields);

static const struct field sample_strategy_fields[] = { F(1, "type", STRING), F(2, "rollingUpdate", ANY) };
static const struct message sample_strategy = MESSAGE("test.Strategy", sample_strategy_fields);

static const struct field sample_spec_fields[] = {
	F(1, "replicas", INT32),
	FL(2, "containers", OBJECT, .msg = &sample_container, .merge_key = "name"),
	FL(3, "volumes", OBJECT, .msg = &sample_volume, .merge_key = "name", .flags = FIELD_RETAIN_KEYS),
	FM(4, "nodeSelector", STRING, .flags = FIELD_ATOMIC),
	FL(5, "podCIDRs", STRING, .flags = FIELD_SET),
	F(6, "strategy", OBJECT, .msg = &sample_strategy, .flags = FIELD_RETAIN_KEYS),
	FM(7, "selector", STRING, .flags = FIELD_REPLACE),
	FL(8, "ports", OBJECT, .msg = &sample_port, .merge_key = "port", .list_keys = "port,protocol"),
};
static const struct message sample_spec = MESSAGE("test.Spec", sample_spec_fields);

static const struct field sample_status_fields[] = { F(1, "phase", STRING) };
static const struct message sample_status = MESSAGE("test.Status", sample_status_fields);

static const struct field sample_fields[] = {
	F(1, "metadata", OBJECT, .msg = &meta_object),
	F(2, "spec", OBJECT, .msg = &sample_spec),
	FM(3, "data", STRING),
	F(4, "status", OBJECT, .msg = &sample_status),
	F(0, "apiVersion", STRING),
	F(0, "kind", STRING),
};
static const struct message sample = MESSAGE("test.Sample", sample_fields);

static const struct kind sample_kind __attribute__((unused)) = {
	.group = "",
	.version = "v1",
	.kind = "Sample",
	.plural = "samples",
	.message = &sample,
	.flags = KIND_STATUS,
};

#endif
