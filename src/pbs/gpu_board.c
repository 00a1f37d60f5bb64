// SPDX-License-Identifier: Apache-2.0
/* gpu_board.c - see gpu_board.h
 *
 * The cluster that chk_gpu comes from has one letter for each model and number of cards of a job: the letter is a
 * property of nodes, and "1:S" in the title of a model says that S is for one card.
 */
#include "pbs/gpu_board.h"

#include <ctype.h>
#include <time.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_values.h"
#include "pbs/slots.h"

enum { NAME_MOST = 20, NAME_TAIL = 18, REQUEST_WIDTH = 12, MODEL_MAX = 64, COLUMNS_LEAST = 8 };

/* ---- jobs ---- */

void gpu_board_header(struct sbuf *out)
{
	sbuf_adds(out, "\nJobid\tUser\t   JobName\t\tReq_parm    Queue_time\t      S Run_time   Alloc_GPUS\n\n");
}

static void job_name(struct str name, struct sbuf *out)
{
	size_t cut = name.n > NAME_MOST ? name.n - NAME_TAIL : 0;

	while (cut < name.n && cut && ((unsigned char)name.p[cut] & 0xc0) == 0x80)
		cut++;
	if (cut)
		sbuf_adds(out, "..");
	column_left(out, (struct str){ name.p + cut, name.n - cut }, cut ? NAME_TAIL - 2 : NAME_TAIL, SIZE_MAX);
}

/* The next field begins behind a blank, however long this one is. */
static void request(struct str text, struct sbuf *out)
{
	column_left(out, text.n ? text : STR("-"), REQUEST_WIDTH, SIZE_MAX);
	if (text.n >= REQUEST_WIDTH)
		sbuf_addc(out, ' ');
}

void gpu_board_job(const struct board_row *r, struct sbuf *out)
{
	time_t when = (time_t)board_row_number(r, COL_CTIME, 0);
	int64_t used = board_row_number(r, COL_WALLTIME, -1);
	struct str id = board_row_short_id(r);
	char run[PBS_TEXT] = "";
	char queued[32];
	struct tm tm;

	localtime_r(&when, &tm);
	strftime(queued, sizeof(queued), "%Y%m%d %H:%M:%S", &tm);
	if (used >= 0)
		pbs_time_text(used, run);
	sbuf_addf(out, "%.*s\t", STR_FMT(id));
	column_left(out, r->c[COL_OWNER], 10, SIZE_MAX);
	sbuf_addc(out, ' ');
	job_name(r->c[COL_NAME], out);
	sbuf_addc(out, '\t');
	request(r->c[COL_REQUEST], out);
	sbuf_addf(out, "%-18s%c %-10s ", queued, board_row_state(r), run);
	slots_short_gpus(r->c[COL_EXEC_GPUS], out);
	sbuf_addc(out, '\n');
}

/* ---- cards ---- */

static void take(void *arg, int index)
{
	struct gpu_node *n = arg;

	if (index >= 0 && index < SLOT_CARDS)
		n->taken[index] = true;
}

void gpu_node_take(struct gpu_node *n, const struct board_row *r)
{
	if (strchr("RSE", board_row_state(r)))
		node_gpus_of(r, n->view.name, take, n);
}

void gpu_node_pods(struct gpu_node *n)
{
	json_t *card;
	size_t i;

	json_array_foreach (n->view.cards, i, card)
		if (*jsonx_str_or(card, "pod", "") || json_array_size(json_object_get(card, "shares")))
			take(n, (int)jsonx_int_or(card, "index", -1));
}

/* "NVIDIA GeForce GTX 1080 Ti" is a 1080Ti. */
static void model_of(const struct gpu_node *n, char out[MODEL_MAX])
{
	static const char *const makers[] = { "NVIDIA", "GeForce", "GTX", "RTX", "Tesla", "Quadro", "AMD", "Radeon" };
	const char *product =
		json_string_value(json_object_get(jsonx_at(n->view.node, "metadata.labels"), "nvidia.com/gpu.product"));
	const char *name = jsonx_str(json_array_get(n->view.cards, 0), "name");
	struct sbuf text = SBUF(MODEL_MAX - 1);

	name = name ? name : product ? product : "GPU";
	while (*name) {
		size_t length = strcspn(name, " -");
		bool maker = false;

		for (size_t i = 0; i < ARRAY_SIZE(makers); i++)
			maker |= strlen(makers[i]) == length && memcmp(makers[i], name, length) == 0;
		if (!maker)
			sbuf_add(&text, name, length);
		name += length + (name[length] != '\0');
	}
	memcpy(out, text.n ? text.p : "GPU", text.n ? text.n + 1 : sizeof("GPU"));
	sbuf_done(&text);
}

/* How many cards a letter stands for; 0: it is not one of those letters. */
static int cards_of_letter(char letter)
{
	static const struct {
		int cards;
		const char *letters;
	} rows[] = { { 1, "SsAGa" }, { 2, "DdB" }, { 4, "QqC" }, { 8, "EeFf" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strchr(rows[i].letters, letter))
			return rows[i].cards;
	return 0;
}

/* The types of jobs that nodes of a model take: each property once, by number of cards. */
static void model_types(struct gpu_node *const *nodes, size_t n, const char *model, struct sbuf *out)
{
	static const int numbers[] = { 1, 2, 4, 8, 0 };
	json_auto_t *seen = json_object();
	char its[MODEL_MAX];

	for (size_t k = 0; k < ARRAY_SIZE(numbers); k++)
		for (size_t i = 0; i < n; i++) {
			struct str rest = sbuf_str(&nodes[i]->view.properties);
			struct str property;

			model_of(nodes[i], its);
			while (streq(its, model) && rest.n && str_split(&rest, ',', &property)) {
				int cards = property.n == 1 ? cards_of_letter(property.p[0]) : 0;

				if (cards != numbers[k] || json_object_getn(seen, property.p, property.n))
					continue;
				json_object_setn_new(seen, property.p, property.n, json_true());
				sbuf_adds(out, "  ");
				if (cards)
					sbuf_addf(out, "%d:", cards);
				sbuf_addf(out, "%.*s", STR_FMT(property));
			}
		}
}

/* G102 is node 102; a name without a number stands as it is. */
static const char *short_name(const char *name)
{
	const char *p = name;

	while (isalpha((unsigned char)*p))
		p++;
	return *p && strspn(p, "0123456789") == strlen(p) ? p : name;
}

static int card_count(const struct gpu_node *n)
{
	return n->view.gpus < SLOT_CARDS ? n->view.gpus : SLOT_CARDS;
}

static void model_nodes(struct gpu_node *const *nodes, size_t n, const char *model, struct sbuf *out)
{
	int most = COLUMNS_LEAST;
	char its[MODEL_MAX];

	for (size_t i = 0; i < n; i++) {
		model_of(nodes[i], its);
		if (streq(its, model) && card_count(nodes[i]) > most)
			most = card_count(nodes[i]);
	}
	sbuf_adds(out, "       ");
	for (int i = 0; i < most; i++)
		sbuf_addf(out, " %2d", i);
	sbuf_addc(out, '\n');
	for (size_t i = 0; i < n; i++) {
		model_of(nodes[i], its);
		if (!streq(its, model) || !nodes[i]->view.gpus)
			continue;
		sbuf_addf(out, "%s(%s):\t", short_name(nodes[i]->view.name),
			  nodes[i]->view.properties.n ? nodes[i]->view.properties.p : "");
		for (int k = 0; k < card_count(nodes[i]); k++)
			sbuf_adds(out, nodes[i]->taken[k] ? "[x]" : "[ ]");
		sbuf_addc(out, '\n');
	}
}

void gpu_board_nodes(struct gpu_node *const *nodes, size_t n, struct sbuf *out)
{
	json_auto_t *done = json_object();

	sbuf_adds(out, "\nGPU used detail:\n");
	for (size_t i = 0; i < n; i++) {
		char model[MODEL_MAX];

		model_of(nodes[i], model);
		if (!nodes[i]->view.gpus || json_object_get(done, model))
			continue;
		json_object_set_new(done, model, json_true());
		sbuf_addf(out, "--%s--  Valid type:", model);
		model_types(nodes, n, model, out);
		sbuf_adds(out, "  ----\n");
		model_nodes(nodes, n, model, out);
	}
}
