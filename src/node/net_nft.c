// SPDX-License-Identifier: Apache-2.0
/* net_nft.c - commands to the kernel's packet filter, through libnftables
 *
 * libnftables parses a text, and hands all of it to the kernel as one transaction: a failed text changes nothing.  It
 * prints where a program would; here its words are kept in its buffers and become errors.
 *
 * Its context remembers the whole machine's rules, foreign ones too, which can be megabytes.  So there is one only
 * while a text is being worked on.
 */
#include "node/net_nft.h"

#include <jansson.h>
#include <nftables/libnftables.h>

#include "base/jsonx.h"
#include "base/mem.h"

struct nft {
	struct nft_ctx *ctx; /* during a call */
};

static int begin(struct nft *n, struct err *e)
{
	n->ctx = nft_ctx_new(NFT_CTX_DEFAULT);
	if (!n->ctx)
		return err_set(e, ERR_UNAVAILABLE, "cannot open nftables");
	nft_ctx_buffer_output(n->ctx);
	nft_ctx_buffer_error(n->ctx);
	return 0;
}

static void end(struct nft *n)
{
	nft_ctx_free(n->ctx);
	n->ctx = NULL;
}

int nft_open(struct nft **ret, struct err *e)
{
	struct nft n;

	/* What cannot be opened is better known now. */
	if (begin(&n, e) < 0)
		return -1;
	end(&n);
	*ret = xcalloc(1, sizeof(**ret));
	return 0;
}

void nft_close(struct nft *n)
{
	free(n);
}

static int run(struct nft *n, const char *text, struct err *e)
{
	int r = nft_run_cmd_from_buffer(n->ctx, text);
	/* Reading the buffers also empties them. */
	const char *words = nft_ctx_get_error_buffer(n->ctx);
	struct str rest = str_of(words);
	struct str line = STR("");

	if (r == 0)
		return 0;
	str_split(&rest, '\n', &line);
	return err_set(e, ERR_UNAVAILABLE, "nftables: %.*s", (int)(line.n > 300 ? 300 : line.n), line.p);
}

int nft_run(struct nft *n, const char *text, struct err *e)
{
	int r;

	if (begin(n, e) < 0)
		return -1;
	r = run(n, text, e);
	end(n);
	return r;
}

static void foreign_chain(const json_t *chain, const char *own, struct sbuf *out)
{
	const char *hook = jsonx_str_or(chain, "hook", "");
	const char *family = jsonx_str_or(chain, "family", "");
	const char *table = jsonx_str_or(chain, "table", "");

	if (!streq(jsonx_str_or(chain, "policy", ""), "drop") || str_starts(table, own))
		return;
	if ((streq(family, "ip") || streq(family, "inet")) && (streq(hook, "forward") || streq(hook, "input")))
		sbuf_addf(out, "%s%s %s %s", out->n ? ", " : "", family, table, jsonx_str_or(chain, "name", ""));
}

void nft_foreign_drops(struct nft *n, const char *own, struct sbuf *out)
{
	json_auto_t *doc = NULL;
	const json_t *item;
	struct err ignored = ERR_INIT;
	const char *text;
	size_t i;

	if (begin(n, &ignored) < 0)
		return;
	nft_ctx_output_set_flags(n->ctx, NFT_CTX_OUTPUT_JSON);
	if (run(n, "list chains", &ignored) == 0) {
		text = nft_ctx_get_output_buffer(n->ctx);
		if (jsonx_parse(text, strlen(text), NULL, NULL, &doc, &ignored) < 0)
			doc = NULL;
	}
	end(n);
	json_array_foreach (json_object_get(doc, "nftables"), i, item)
		foreign_chain(json_object_get(item, "chain"), own, out);
}
