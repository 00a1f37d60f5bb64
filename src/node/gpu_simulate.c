// SPDX-License-Identifier: Apache-2.0
/* gpu_simulate.c - cards that are not there, for trying things out
 *
 *	4                       four cards of 16 GiB
 *	2xA100-80G,2xV100-16G   several models; the number at the end of a name is its memory in GiB
 *	8:pairs                 and how they lie: the first half near NUMA node 0, the others near 1, and NVLink between
 *	                        0 and 1, 2 and 3, ...
 */
#include <ctype.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/gpu_parts.h"

#define MOST       1024
#define MEMORY_GIB 16
#define MODEL_MAX  40

/* "A100-80G" -> 80, "V100" -> 16. */
static int64_t memory_gib(struct str model)
{
	char number[8];
	size_t end = model.n;
	size_t at;
	int64_t gib;

	if (end && tolower((unsigned char)model.p[end - 1]) == 'b')
		end--;
	if (!end || tolower((unsigned char)model.p[end - 1]) != 'g')
		return MEMORY_GIB;
	for (at = --end; at && isdigit((unsigned char)model.p[at - 1]);)
		at--;
	snprintf(number, sizeof(number), "%.*s", (int)(end - at), model.p + at);
	return end - at < sizeof(number) && str_int64(number, 1, 1 << 16, &gib) ? gib : MEMORY_GIB;
}

static bool is_model(struct str model)
{
	for (size_t i = 0; i < model.n; i++)
		if (!isalnum((unsigned char)model.p[i]) && !strchr("-_. ", model.p[i]))
			return false;
	return model.n > 0 && model.n <= MODEL_MAX;
}

/* "2xA100-80G" or "4". */
static bool read_part(struct str part, int64_t *ret_n, struct str *ret_model)
{
	char number[8];
	size_t digits = 0;

	while (digits < part.n && isdigit((unsigned char)part.p[digits]))
		digits++;
	snprintf(number, sizeof(number), "%.*s", (int)digits, part.p);
	if (digits >= sizeof(number) || !str_int64(number, 0, MOST, ret_n))
		return false;
	*ret_model = (struct str){ part.p + digits, part.n - digits };
	if (!ret_model->n)
		return true;
	if (ret_model->p[0] != 'x')
		return false;
	ret_model->p++;
	ret_model->n--;
	return is_model(*ret_model);
}

static struct gpu_card card_new(int index, struct str model)
{
	return (struct gpu_card){
		.index = index,
		.minor = -1,
		.key = xasprintf("GPU-sim-%d", index),
		.uuid = xasprintf("GPU-sim-%d", index),
		.name = model.n ? xasprintf("Simulated %.*s", STR_FMT(model)) : xstrdup("Simulated GPU"),
		.memory = memory_gib(model) << 30,
		.numa = -1,
		.links = json_array(),
	};
}

static void lay_in_pairs(struct gpu_card *cards, size_t n)
{
	size_t half = (n + 3) / 4 * 2; /* no pair is torn apart */

	for (size_t i = 0; i < n; i++) {
		cards[i].numa = i >= half;
		if ((i ^ 1) < n)
			json_array_append_new(cards[i].links, json_integer((json_int_t)(i ^ 1)));
	}
}

int gpu_simulate(const char *text, struct gpu_card **ret, size_t *ret_n, struct err *e)
{
	const char *colon = strchr(text, ':');
	struct str rest = { text, colon ? (size_t)(colon - text) : strlen(text) };
	bool good = rest.n > 0 && (!colon || streq(colon, ":pairs"));
	struct gpu_card *cards = NULL;
	size_t ncards = 0;
	size_t cap = 0;
	struct str part;

	while (good && str_split(&rest, ',', &part)) {
		struct str model;
		int64_t n = 0;

		good = read_part(part, &n, &model) && ncards + (size_t)n <= MOST;
		for (; good && n; n--) {
			struct gpu_card card = card_new((int)ncards, model);

			ARRAY_PUSH(cards, ncards, cap, card);
		}
	}
	if (!good) {
		gpu_cards_free(cards, ncards);
		return err_set(e, ERR_BAD_REQUEST,
			       "--gpus: \"%s\": a number up to %d is expected, or models like 2xA100-80G,2xV100-16G; "
			       "either may end with :pairs",
			       text, MOST);
	}
	if (colon)
		lay_in_pairs(cards, ncards);
	*ret = cards;
	*ret_n = ncards;
	return 0;
}
