// SPDX-License-Identifier: Apache-2.0
#include "control/accounts_plan.h"

#include "../api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define TOLD "'metadata':{'annotations':{'kubernetes.io/description':'x'}},"

TEST("what a namespace is given")
{
	static const struct {
		const char *ns, *account, *map, *ca;
		bool make_account, make_ca, write_ca;
	} rows[] = {
		{ "{}", NULL, NULL, "PEM", true, true, false },
		{ "{}", "{}", "{" TOLD "'data':{'ca.crt':'PEM'}}", "PEM", false, false, false },
		{ "{}", "{}", "{" TOLD "'data':{'ca.crt':'other'}}", "PEM", false, false, true },
		{ "{}", "{}", "{" TOLD "'data':{'ca.crt':'PEM','more':'x'}}", "PEM", false, false, true },
		{ "{}", "{}", "{'data':{'ca.crt':'PEM'}}", "PEM", false, false, true },
		{ "{}", "{}", "{" TOLD "'data':{'ca.crt':'PEM'},'binaryData':{'b':'eA=='}}", "PEM", false, false,
		  true },
		{ "{}", "{}", "{'metadata':{'deletionTimestamp':'t'}}", "PEM", false, false, false },
		/* nobody here knows the CA */
		{ "{}", NULL, NULL, NULL, true, false, false },
		{ "{}", "{}", "{'data':{'ca.crt':'theirs'}}", NULL, false, false, false },
		/* it is going, or gone */
		{ "{'metadata':{'deletionTimestamp':'t'}}", NULL, NULL, "PEM", false, false, false },
		{ "{'status':{'phase':'Terminating'}}", NULL, NULL, "PEM", false, false, false },
		{ NULL, NULL, NULL, "PEM", false, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *ns = rows[i].ns ? sample_json(rows[i].ns) : NULL;
		json_auto_t *account = rows[i].account ? sample_json(rows[i].account) : NULL;
		json_auto_t *map = rows[i].map ? sample_json(rows[i].map) : NULL;
		struct accounts_plan p = accounts_plan(ns, account, map, rows[i].ca);

		CHECK_INT(p.make_account, rows[i].make_account);
		CHECK_INT(p.make_ca, rows[i].make_ca);
		CHECK_INT(p.write_ca, rows[i].write_ca);
		if (p.write_ca) {
			json_auto_t *right = root_ca_config_map(map, "n", rows[i].ca);

			CHECK(!accounts_plan(ns, account, right, rows[i].ca).write_ca);
		}
	}
}

#define SECRET(notes, data)                                                                                            \
	"{'metadata':{'name':'s','namespace':'n','uid':'u','annotations':{" notes "}},"                                \
	"'type':'kubernetes.io/service-account-token','data':{" data "}}"
#define NAME  "'kubernetes.io/service-account.name':'robot'"
#define UID   "'kubernetes.io/service-account.uid':'a1'"
#define WHOLE "'token':'dA==','namespace':'bg==','ca.crt':'UEVN'" /* "t", "n", "PEM" */

TEST("what a secret for a token lacks")
{
	static const struct {
		const char *secret, *account, *ca;
		enum token_secret_act want;
	} rows[] = {
		{ SECRET(NAME, ""), "{'metadata':{'uid':'a1'}}", "PEM", TOKEN_SECRET_FILL },
		{ SECRET(NAME "," UID, WHOLE), "{'metadata':{'uid':'a1'}}", "PEM", TOKEN_SECRET_RIGHT },
		{ SECRET(NAME "," UID, WHOLE), "{'metadata':{'uid':'a1'}}", NULL, TOKEN_SECRET_RIGHT },
		{ SECRET(NAME "," UID, WHOLE), "{'metadata':{'uid':'a1'}}", "NEW", TOKEN_SECRET_FILL },
		{ SECRET(NAME "," UID, "'token':'dA=='"), "{'metadata':{'uid':'a1'}}", "PEM", TOKEN_SECRET_FILL },
		{ SECRET(NAME "," UID, WHOLE), "{'metadata':{'uid':'a2'}}", "PEM", TOKEN_SECRET_REMOVE },
		{ SECRET(NAME "," UID, WHOLE), NULL, "PEM", TOKEN_SECRET_ASK },
		{ SECRET("", ""), "{'metadata':{'uid':'a1'}}", "PEM", TOKEN_SECRET_RIGHT },
		{ "{'type':'Opaque'}", NULL, "PEM", TOKEN_SECRET_RIGHT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *secret = sample_json(rows[i].secret);
		json_auto_t *account = rows[i].account ? sample_json(rows[i].account) : NULL;

		CHECK_INT(token_secret_plan(secret, account, rows[i].ca), rows[i].want);
	}
	CHECK_INT(token_secret_plan(NULL, NULL, "PEM"), TOKEN_SECRET_RIGHT);
}

TEST("a secret is filled, and a token that it has stays")
{
	json_auto_t *secret = sample_json(SECRET(NAME, ""));
	json_auto_t *account = sample_json("{'metadata':{'uid':'a1'}}");
	json_auto_t *whole = token_secret_patch(secret, account, "t", "PEM");
	json_auto_t *rest = token_secret_patch(secret, account, NULL, "PEM");

	CHECK_JSON(json_object_get(whole, "data"), "{'namespace':'bg==','token':'dA==','ca.crt':'UEVN'}");
	CHECK_JSON(jsonx_at(whole, "metadata.annotations"), "{" UID "}");
	CHECK_JSON(json_object_get(rest, "data"), "{'namespace':'bg==','ca.crt':'UEVN'}");
}
