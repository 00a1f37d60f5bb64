// SPDX-License-Identifier: Apache-2.0
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/bundle.h"
#include "test.h"

static json_t *parse(const char *text)
{
	auto_free char *json = xstrdup(text);
	struct err e = ERR_INIT;
	json_t *v = NULL;

	for (char *p = json; *p; p++)
		if (*p == '\'')
			*p = '"';
	CHECK_INT(jsonx_parse(json, strlen(json), NULL, NULL, &v, &e), 0);
	return v;
}

static const char *value(const json_t *env, const char *name)
{
	size_t n = strlen(name);
	json_t *line;
	size_t i;

	json_array_foreach (env, i, line)
		if (strncmp(json_string_value(line), name, n) == 0 && json_string_value(line)[n] == '=')
			return json_string_value(line) + n + 1;
	return NULL;
}

TEST("$(VAR) is replaced, $$ is a dollar, what is unknown stays")
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "a $(X) b", "a 1 b" },
		{ "$(X)$(Y)", "12" },
		{ "$$(X)", "$(X)" },
		{ "$(NO)", "$(NO)" },
		{ "$X ${X}", "$X ${X}" },
		{ "$(X", "$(X" },
		{ "$$$(X)", "$1" },
		{ "$", "$" },
		{ "", "" },
		{ "$(with space)", "$(with space)" },
	};
	json_auto_t *vars = parse("{'X':'1','Y':'2'}");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(1024);

		env_expand(rows[i].text, vars, &out);
		CHECK_STR(sbuf_str(&out).p, rows[i].want);
	}
}

TEST("later sources win: image, services, envFrom, env")
{
	json_auto_t *pod =
		parse("{'metadata':{'name':'p','namespace':'n','labels':{'app':'web'}},'status':{'podIP':'10.1.2.3'}}");
	json_auto_t *container = parse(
		"{'name':'c','resources':{'limits':{'cpu':'1500m','memory':'64Mi'}},"
		"'envFrom':[{'prefix':'P_','configMapRef':{'name':'m'}},{'secretRef':{'name':'gone','optional':true}}],"
		"'env':[{'name':'A','value':'x'},{'name':'B','value':'$(A)-$(P_k)'},"
		"{'name':'S','valueFrom':{'secretKeyRef':{'name':'s','key':'t'}}},"
		"{'name':'IP','valueFrom':{'fieldRef':{'fieldPath':'status.podIP'}}},"
		"{'name':'CPU','valueFrom':{'resourceFieldRef':{'resource':'limits.cpu'}}},"
		"{'name':'MEM','valueFrom':{'resourceFieldRef':{'resource':'limits.memory','divisor':'1Mi'}}}]}");
	json_auto_t *image = parse("{'config':{'Env':['A=image','LANG=C']}}");
	json_auto_t *services =
		parse("[{'metadata':{'name':'my-db'},'spec':{'clusterIP':'10.96.0.9','ports':[{'port':5432}]}}]");
	json_auto_t *objects = parse("{'configmaps/m':{'data':{'k':'v'}},'secrets/s':{'data':{'t':'aGk='}}}");
	json_auto_t *env = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(env_resolve(pod, container, image, services, objects, &env, &e), 0);
	CHECK_STR(value(env, "A"), "x");
	CHECK_STR(value(env, "LANG"), "C");
	CHECK_STR(value(env, "P_k"), "v");
	CHECK_STR(value(env, "B"), "x-v");
	CHECK_STR(value(env, "S"), "hi");
	CHECK_STR(value(env, "IP"), "10.1.2.3");
	CHECK_STR(value(env, "CPU"), "2");
	CHECK_STR(value(env, "MEM"), "64");
	CHECK_STR(value(env, "MY_DB_SERVICE_HOST"), "10.96.0.9");
	CHECK_STR(value(env, "MY_DB_PORT_5432_TCP_ADDR"), "10.96.0.9");
	CHECK_STR(value(env, "MY_DB_PORT"), "tcp://10.96.0.9:5432");
}

TEST("labels and annotations are named by key")
{
	json_auto_t *pod = parse("{'metadata':{'labels':{'app/x':'web'}}}");
	json_auto_t *container = json_pack("{s:[{s:s, s:{s:{s:s}}}, {s:s, s:{s:{s:s}}}]}", "env", "name", "L",
					   "valueFrom", "fieldRef", "fieldPath", "metadata.labels['app/x']", "name",
					   "N", "valueFrom", "fieldRef", "fieldPath", "metadata.annotations['none']");
	json_auto_t *env = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(env_resolve(pod, container, NULL, NULL, NULL, &env, &e), 0);
	CHECK_STR(value(env, "L"), "web");
	CHECK_STR(value(env, "N"), "");
}

TEST("what a variable needs and does not find is named")
{
	static const struct {
		const char *env, *want;
	} rows[] = {
		{ "{'env':[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'no','key':'k'}}}]}",
		  "configmap \"no\" not found" },
		{ "{'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'s','key':'k'}}}]}",
		  "couldn't find key k in Secret n/s" },
		{ "{'envFrom':[{'secretRef':{'name':'no'}}]}", "secret \"no\" not found" },
		{ "{'env':[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'spec.nope'}}}]}",
		  "fieldPath \"spec.nope\" is not supported in an environment variable" },
	};
	json_auto_t *objects = parse("{'secrets/s':{'metadata':{'namespace':'n'},'data':{}}}");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *container = parse(rows[i].env);
		json_t *env = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(env_resolve(NULL, container, NULL, NULL, objects, &env, &e), -1);
		CHECK_STR(e.text, rows[i].want);
	}
}

TEST("without service links only the API is named")
{
	json_auto_t *pod = parse("{'spec':{'enableServiceLinks':false}}");
	json_auto_t *container = parse("{}");
	json_auto_t *services = parse("[{'metadata':{'name':'web','namespace':'n'},'spec':{'clusterIP':'10.0.0.2'}},"
				      "{'metadata':{'name':'kubernetes','namespace':'default'},"
				      "'spec':{'clusterIP':'10.0.0.1','ports':[{'port':443}]}}]");
	json_auto_t *env = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(env_resolve(pod, container, NULL, services, NULL, &env, &e), 0);
	CHECK_STR(value(env, "KUBERNETES_SERVICE_HOST"), "10.0.0.1");
	CHECK(!value(env, "WEB_SERVICE_HOST"));
}

TEST("resources are those the pod says, of any of its containers")
{
	json_auto_t *pod = parse("{'spec':{'containers':[{'name':'c','resources':{'limits':{'cpu':'3'}}}],"
				 "'initContainers':[{'name':'i','resources':{'requests':{'memory':'2Mi'}}}]}}");
	json_auto_t *container = parse("{'name':'c','env':[{'name':'A','valueFrom':{'resourceFieldRef':{'resource':"
				       "'limits.cpu'}}},{'name':'B','valueFrom':{'resourceFieldRef':{'resource':"
				       "'requests.memory','containerName':'i','divisor':'1Mi'}}}]}");
	json_auto_t *env = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(env_resolve(pod, container, NULL, NULL, NULL, &env, &e), 0);
	CHECK_STR(value(env, "A"), "3");
	CHECK_STR(value(env, "B"), "2");
}
