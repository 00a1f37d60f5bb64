// SPDX-License-Identifier: Apache-2.0
#include "api/front.h"
#include "capture.h"

static void turn(void *arg)
{
	front_turn(arg);
}

static json_t *card(int index, bool healthy, const char *ns, const char *pod, const char *container)
{
	return json_pack("{s:i, s:s, s:o, s:I, s:o, s:b, s:s, s:s, s:s}", "index", index, "name", "Tesla T4", "uuid",
			 jsonx_stringf("GPU-%d", index), "memoryBytes", (json_int_t)16 << 30, "device",
			 jsonx_stringf("/dev/nvidia%d", index), "healthy", healthy, "namespace", ns, "pod", pod,
			 "container", container);
}

/* A node as its agent writes it. */
static char *node_text(void)
{
	json_auto_t *cards =
		json_pack("[o,o,o,o,o]", card(0, true, "lab", "train-0", "main"), card(1, true, "", "", ""),
			  card(2, false, "", "", ""), card(3, true, "", "", ""), card(4, true, "", "", ""));
	auto_sbuf struct sbuf annotation = SBUF(65536);
	auto_sbuf struct sbuf text = SBUF(65536);
	json_auto_t *node = NULL;

	json_object_update_new(json_array_get(cards, 3),
			       json_pack("{s:i, s:[i,i], s:b, s:[{s:s,s:s,s:s,s:i},{s:s,s:s,s:s,s:i}]}", "numa", 1,
					 "links", 4, 5, "shareable", true, "shares", "namespace", "lab", "pod", "a",
					 "container", "main", "memoryMib", 8192, "namespace", "lab", "pod", "b",
					 "container", "main", "memoryMib", 4096));
	json_object_set_new(json_array_get(cards, 4), "shareable", json_true());
	jsonx_dump(cards, &annotation);
	node = json_pack("{s:s, s:s, s:{s:s, s:{s:s}}}", "apiVersion", "v1", "kind", "Node", "metadata", "name", "box",
			 "annotations", "stoker.dev/gpus", annotation.p);
	jsonx_dump(node, &text);
	return sbuf_steal(&text);
}

TEST("each card is shown with the pod that holds it")
{
	struct front f = front_new();
	auto_free char *node = node_text();
	char *socket = xasprintf("--socket=%s", f.path);
	struct capture none = CAPTURE(turn, &f, (char *)"gpus", socket);

	CHECK_INT(none.status, 0);
	CHECK(strstr(none.out.p, "There are no GPUs") && strstr(none.out.p, "--gpus N"));
	CHECK_INT(front_ask(&f, "POST /api/v1/nodes", "Content-Type: application/json\r\n", node), 201);
	struct capture text = CAPTURE(turn, &f, (char *)"gpus", socket);
	CHECK_INT(text.status, 0);
	CHECK_STR(text.out.p,
		  "NODE  GPU  MODEL     MEMORY    NUMA  LINKS  STATE   SHARE    NAMESPACE  POD      CONTAINER\n"
		  "box   0    Tesla T4  16384MiB  -     -      used    -        lab        train-0  main\n"
		  "box   1    Tesla T4  16384MiB  -     -      free    -        -          -        -\n"
		  "box   2    Tesla T4  16384MiB  -     -      broken  -        -          -        -\n"
		  "box   3    Tesla T4  16384MiB  1     4,5    shared  8192MiB  lab        a        main\n"
		  "box   3    Tesla T4  16384MiB  1     4,5    shared  4096MiB  lab        b        main\n"
		  "box   4    Tesla T4  16384MiB  -     -      free    allowed  -          -        -\n"
		  "2 of 5 free\n");
	struct capture wide = CAPTURE(turn, &f, (char *)"gpus", (char *)"-o", (char *)"wide", socket);
	CHECK(strstr(wide.out.p, "GPU-1  /dev/nvidia1\n") != NULL);
	struct capture json = CAPTURE(turn, &f, (char *)"gpus", (char *)"-o", (char *)"json", socket);
	json_auto_t *doc = json_loads(json.out.p, 0, NULL);
	CHECK_INT(json_array_size(doc), 5);
	CHECK_STR(jsonx_str(json_array_get(doc, 3), "state"), "shared");
	CHECK_STR(jsonx_str(json_array_get(doc, 0), "node"), "box");
	CHECK_STR(jsonx_str(json_array_get(doc, 0), "pod"), "train-0");
	capture_done(&none);
	capture_done(&text);
	capture_done(&wide);
	capture_done(&json);
	free(socket);
	front_done(&f);
}
