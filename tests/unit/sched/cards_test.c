// SPDX-License-Identifier: Apache-2.0
#include "sched/cards.h"

#include "api/sample_json.h"
#include "base/mem.h"
#include "base/str.h"
#include "test.h"

/* A node whose annotation is this list, in single quotes. */
static void read_list(struct cards *c, const char *list)
{
	json_auto_t *cards = sample_json(list);
	auto_free char *text = json_dumps(cards, JSON_COMPACT);
	json_auto_t *node = json_pack("{s:{s:{s:s}}}", "metadata", "annotations", CARDS_ANNOTATION, text);

	cards_read(c, node);
}

static const char *pick(const struct cards *c, struct cards_want w)
{
	static char out[256];

	card_set_text(cards_pick(c, &w), out);
	return out;
}

static void hold(struct cards *c, const char *which)
{
	cards_hold(c, &(struct cards_want){ .whole = 1 }, card_set_read(which));
}

static void release(struct cards *c, const char *which)
{
	cards_release(c, &(struct cards_want){ .whole = 1 }, card_set_read(which));
}

TEST("a set of cards is read from its text and written as it")
{
	static const struct {
		const char *text;
		card_set set;
	} rows[] = { { "", 0 },   { "0", 1 },   { "0,2", 5 },       { "63", (card_set)1 << 63 },
		     { "64", 0 }, { "1,x", 0 }, { "1,", 0 },        { "-1", 0 },
		     { NULL, 0 }, { "1,1", 2 }, { "123456789", 0 }, { "7,0", 129 } };
	char out[256];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_INT(card_set_read(rows[i].text), rows[i].set);
	card_set_text(5, out);
	CHECK_STR(out, "0,2");
	card_set_text(~(card_set)0, out);
	CHECK_INT(card_set_read(out), ~(card_set)0);
}

TEST("a node that only says how many has plain cards")
{
	json_auto_t *node = sample_json(
		"{'metadata':{'labels':{'nvidia.com/gpu.product':'NVIDIA-A100','nvidia.com/gpu.memory':'40960'"
		"}},'status':{'allocatable':{'nvidia.com/gpu':'3'}}}");
	struct cards c = { 0 };

	cards_read(&c, node);
	CHECK_INT(c.n, 3);
	CHECK_STR(c.card[2].model, "NVIDIA-A100");
	CHECK_INT(c.card[2].memory_mib, 40960);
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 2 }), "0,1");
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 4 }), "");
	CHECK_STR(pick(&c, (struct cards_want){ 0 }), "");
	CHECK_STR(pick(&c, (struct cards_want){ .part_mib = 1 }), ""); /* nobody allowed sharing */
	cards_done(&c);
}

#define MIXED                                                                                                          \
	"[{'index':0,'name':'Tesla V100-SXM2-32GB','memoryBytes':34359738368},"                                        \
	"{'index':1,'name':'NVIDIA A100','memoryBytes':42949672960},"                                                  \
	"{'index':2,'name':'NVIDIA A100','memoryBytes':42949672960},"                                                  \
	"{'index':3,'name':'Tesla V100-SXM2-32GB','memoryBytes':34359738368,'healthy':false}]"

TEST("model and memory choose cards, and models are not mixed without need")
{
	static const struct {
		struct cards_want want;
		const char *got;
		bool could;
	} rows[] = {
		{ { .whole = 1, .model = "v100" }, "0", true },
		{ { .whole = 2, .model = "v100" }, "", false },
		{ { .whole = 2, .model = "a100" }, "1,2", true },
		{ { .whole = 2 }, "1,2", true },
		{ { .whole = 3 }, "0,1,2", true },
		{ { .whole = 4 }, "", false },
		{ { .whole = 1, .least_mib = 40960 }, "1", true },
		{ { .whole = 1, .least_mib = 40961 }, "", false },
		{ { .whole = 1, .model = "h100" }, "", false },
		{ { .whole = 1, .part_mib = 1 }, "", false },
	};
	struct cards c = { 0 };

	read_list(&c, MIXED);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_STR(pick(&c, rows[i].want), rows[i].got);
		CHECK_INT(cards_could(&c, &rows[i].want), rows[i].could);
	}
	hold(&c, "1");
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 2, .model = "A100" }), "");
	CHECK(cards_could(&c, &(struct cards_want){ .whole = 2, .model = "A100" }));
	cards_done(&c);
}

/* Two NUMA nodes of four, in each of which two pairs have NVLink. */
#define PAIR(a, b, numa)                                                                                               \
	"{'index':" a ",'numa':" numa ",'links':[" b "]},{'index':" b ",'numa':" numa ",'links':[" a "]}"
#define EIGHT "[" PAIR("0", "1", "0") "," PAIR("2", "3", "0") "," PAIR("4", "5", "1") "," PAIR("6", "7", "1") "]"

TEST("cards that talk fastest go together, and groups are broken into as few as can be")
{
	static const struct {
		const char *held;
		int64_t want;
		const char *got;
	} rows[] = {
		{ "", 2, "0,1" },        /* a pair */
		{ "0", 2, "2,3" },       /* still a pair */
		{ "0", 1, "1" },         /* the single one, not half a pair */
		{ "4", 1, "5" },         /* wherever it is */
		{ "0,1", 1, "2" },       /* of the NUMA node that is broken into already */
		{ "0,2,4,6", 2, "1,3" }, /* no pair is left: one NUMA node */
		{ "0,2,3,4,6", 2, "5,7" },
		{ "0,2,3,5,6,7", 2, "1,4" }, /* any */
		{ "", 4, "0,1,2,3" },
		{ "0", 4, "4,5,6,7" },
		{ "0,1", 2, "2,3" },
		{ "", 8, "0,1,2,3,4,5,6,7" },
		{ "3", 8, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cards c = { 0 };

		read_list(&c, EIGHT);
		hold(&c, rows[i].held);
		CHECK_STR(pick(&c, (struct cards_want){ .whole = rows[i].want }), rows[i].got);
		cards_done(&c);
	}
}

#define SHARED                                                                                                         \
	"[{'index':0,'memoryBytes':8589934592,'shareable':true},{'index':1,'memoryBytes':17179869184,'shareable':"     \
	"true},"                                                                                                       \
	"{'index':2,'memoryBytes':17179869184}]"

TEST("a card is shared where that is allowed, and never with who has one whole")
{
	struct cards_want four = { .part_mib = 4096 };
	struct cards_want nine = { .part_mib = 9000 };
	struct cards c = { 0 };

	read_list(&c, SHARED);
	CHECK_STR(pick(&c, four), "0"); /* the tightest */
	CHECK_STR(pick(&c, nine), "1");
	CHECK_STR(pick(&c, (struct cards_want){ .part_mib = 17000 }), "");
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 1 }), "2"); /* leaves what can be shared */
	cards_hold(&c, &nine, 2);
	CHECK_STR(pick(&c, four), "1"); /* shared already */
	CHECK_INT(cards_part_open(&c), 16384 - 9000);
	CHECK_INT(cards_part_most(&c), 8192);
	cards_hold(&c, &four, 2);
	CHECK_STR(pick(&c, four), "0");
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 2 }), "0,2");
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 3 }), "");
	hold(&c, "0,2");
	CHECK_STR(pick(&c, four), "");
	cards_release(&c, &nine, 2);
	CHECK_STR(pick(&c, nine), "1");
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 1 }), "");
	cards_release(&c, &four, 2);
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 1 }), "1");
	cards_done(&c);
}

TEST("what is held outlasts a report, also one without the card")
{
	struct cards c = { 0 };

	hold(&c, "1"); /* before the node was seen */
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 1 }), "");
	read_list(&c, MIXED);
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 2, .model = "A100" }), "");
	read_list(&c, "[{'index':0}]");
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 1 }), "0");
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 2 }), "");
	read_list(&c, MIXED);
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 2, .model = "A100" }), "");
	release(&c, "1");
	CHECK_STR(pick(&c, (struct cards_want){ .whole = 2, .model = "A100" }), "1,2");
	release(&c, "1,63");
	cards_done(&c);
}

TEST("a bad list of cards is as good as none")
{
	static const char *const lists[] = { "[", "{}", "[1,null,{'index':99},{'index':-1}]",
					     "[{'links':[0,99,'x']}]" };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		json_auto_t *node = json_pack("{s:{s:{s:s}}}", "metadata", "annotations", CARDS_ANNOTATION, lists[i]);
		struct cards c = { 0 };

		cards_read(&c, node);
		CHECK_INT(c.n, 0);
		cards_done(&c);
	}
}
