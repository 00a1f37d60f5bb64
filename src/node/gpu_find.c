// SPDX-License-Identifier: Apache-2.0
/* gpu_find.c - which cards there are
 *
 * NVML knows most.  Without it the kernel driver's own files say enough to use a card, all but its memory.  Cards are
 * counted by their place on the bus, as NVML and nvidia-smi do, so that both ways give the same numbers.
 */
#include <ctype.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/gpu_parts.h"

#define PROC_GPUS        "/proc/driver/nvidia/gpus"
#define SIMULATED_MEMORY (INT64_C(16) << 30)
#define MAX_CARDS        256 /* minors of the driver's major number */

char *gpu_bus_name(const char *text)
{
	const char *colon = strchr(text, ':');
	char *out;

	while (colon && colon - text > 4 && *text == '0')
		text++;
	out = xstrdup(text);
	for (char *p = out; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return out;
}

static void simulate_cards(int n, struct gpu_card **ret, size_t *ret_n)
{
	*ret = xcalloc((size_t)n, sizeof(**ret));
	for (int i = 0; i < n; i++)
		(*ret)[i] = (struct gpu_card){ .index = i,
					       .minor = -1,
					       .key = xasprintf("GPU-sim-%d", i),
					       .uuid = xasprintf("GPU-sim-%d", i),
					       .name = xstrdup("Simulated GPU"),
					       .memory = SIMULATED_MEMORY };
	*ret_n = (size_t)n;
}

/* "Label: \t value" of the driver's information file, or ""; malloc'ed. */
static char *information(const char *text, const char *label)
{
	struct str rest = str_of(text);
	struct str line;
	size_t n = strlen(label);

	while (str_split(&rest, '\n', &line)) {
		struct str value;

		if (line.n <= n || memcmp(line.p, label, n) != 0 || line.p[n] != ':')
			continue;
		value = str_trim((struct str){ line.p + n + 1, line.n - n - 1 });
		return xstrndup(value.p, value.n);
	}
	return xstrdup("");
}

static bool card_from_proc(const char *root, const char *bus, struct gpu_card *ret)
{
	auto_free char *path = xasprintf("%s/%s/information", PROC_GPUS, bus);
	auto_free char *text = gpu_path_text(root, path);
	auto_free char *minor_text = text ? information(text, "Device Minor") : xstrdup("");
	auto_free char *excluded = text ? information(text, "GPU Excluded") : xstrdup("");
	auto_free char *uuid = text ? information(text, "GPU UUID") : xstrdup("");
	int64_t minor;

	if (!str_int64(minor_text, 0, MAX_CARDS - 1, &minor))
		return false;
	*ret = (struct gpu_card){ .minor = (int)minor,
				  .key = gpu_bus_name(bus),
				  /* question marks until the card is first used */
				  .uuid = xstrdup(strchr(uuid, '?') ? "" : uuid),
				  .name = information(text, "Model"),
				  .broken = streq(excluded, "Yes") };
	return true;
}

static void cards_from_proc(const char *root, struct gpu_card **ret, size_t *ret_n)
{
	json_auto_t *buses = gpu_path_names(root, PROC_GPUS, "");
	struct gpu_card card;
	size_t cap = 0;
	json_t *bus;
	size_t i;

	json_array_foreach (buses, i, bus)
		if (*ret_n < MAX_CARDS && card_from_proc(root, json_string_value(bus), &card))
			ARRAY_PUSH(*ret, *ret_n, cap, card);
}

static void cards_from_nvml(const json_t *list, struct gpu_card **ret, size_t *ret_n)
{
	size_t cap = 0;
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v) {
		const char *bus = jsonx_str_or(v, "bus", "");
		int64_t minor = jsonx_int_or(v, "minor", -1);
		struct gpu_card card;

		if (minor < 0 || minor >= MAX_CARDS || !*bus || *ret_n == MAX_CARDS)
			continue;
		card = (struct gpu_card){ .minor = (int)minor,
					  .key = gpu_bus_name(bus),
					  .uuid = xstrdup(jsonx_str_or(v, "uuid", "")),
					  .name = xstrdup(jsonx_str_or(v, "name", "")),
					  .memory = jsonx_int_or(v, "memory", 0),
					  .broken = jsonx_bool_or(v, "broken", false) };
		ARRAY_PUSH(*ret, *ret_n, cap, card);
	}
}

static int by_bus(const void *a, const void *b)
{
	return strcmp(((const struct gpu_card *)a)->key, ((const struct gpu_card *)b)->key);
}

void gpu_find(const char *root, int simulate, struct gpu_card **ret, size_t *ret_n)
{
	auto_free char *driver = NULL;
	json_auto_t *nvml = NULL;

	*ret = NULL;
	*ret_n = 0;
	if (simulate >= 0) {
		simulate_cards(simulate, ret, ret_n);
		return;
	}
	driver = gpu_path_real(root, "/proc/driver/nvidia");
	if (!driver)
		return;
	nvml = gpu_nvml_list(root);
	if (json_array_size(nvml))
		cards_from_nvml(nvml, ret, ret_n);
	else
		cards_from_proc(root, ret, ret_n);
	if (*ret_n)
		qsort(*ret, *ret_n, sizeof(**ret), by_bus);
	for (size_t i = 0; i < *ret_n; i++)
		(*ret)[i].index = (int)i;
}
