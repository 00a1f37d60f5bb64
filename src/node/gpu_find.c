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

#define PROC_GPUS "/proc/driver/nvidia/gpus"
#define MAX_CARDS 256 /* minors of the driver's major number */

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

/* ---- how they lie ---- */

static int numa_of(const char *root, const char *bus)
{
	auto_free char *path = xasprintf("/sys/bus/pci/devices/%s/numa_node", bus);
	auto_free char *text = gpu_path_text(root, path);
	struct str line = str_trim(str_of(text ? text : ""));
	auto_free char *number = xstrndup(line.p, line.n);
	int64_t numa;

	/* The kernel says -1 where there is but one, or where the firmware does not tell. */
	return str_int64(number, 0, 1023, &numa) ? (int)numa : -1;
}

/* NVML's list as it says who has NVLink to whom: by places on the bus. */
static json_t *links_of(const json_t *nvml, const struct gpu_card *cards, size_t n, const char *key)
{
	json_t *links = json_array();
	json_t *v;
	json_t *peer;
	size_t i;
	size_t k;

	json_array_foreach ((json_t *)nvml, i, v) {
		auto_free char *bus = gpu_bus_name(jsonx_str_or(v, "bus", ""));

		if (!streq(bus, key))
			continue;
		json_array_foreach (json_object_get(v, "links"), k, peer) {
			auto_free char *to = gpu_bus_name(json_is_string(peer) ? json_string_value(peer) : "");

			for (size_t c = 0; c < n; c++)
				if (streq(cards[c].key, to))
					json_array_append_new(links, json_integer(cards[c].index));
		}
	}
	return links;
}

static int by_bus(const void *a, const void *b)
{
	return strcmp(((const struct gpu_card *)a)->key, ((const struct gpu_card *)b)->key);
}

int gpu_find(const char *root, const char *simulate, struct gpu_card **ret, size_t *ret_n, struct err *e)
{
	auto_free char *driver = NULL;
	json_auto_t *nvml = NULL;

	*ret = NULL;
	*ret_n = 0;
	if (simulate)
		return gpu_simulate(simulate, ret, ret_n, e);
	driver = gpu_path_real(root, "/proc/driver/nvidia");
	if (!driver)
		return 0;
	nvml = gpu_nvml_list(root);
	if (json_array_size(nvml))
		cards_from_nvml(nvml, ret, ret_n);
	else
		cards_from_proc(root, ret, ret_n);
	if (*ret_n)
		qsort(*ret, *ret_n, sizeof(**ret), by_bus);
	for (size_t i = 0; i < *ret_n; i++)
		(*ret)[i].index = (int)i;
	for (size_t i = 0; i < *ret_n; i++) {
		(*ret)[i].numa = numa_of(root, (*ret)[i].key);
		(*ret)[i].links = links_of(nvml, *ret, *ret_n, (*ret)[i].key);
	}
	return 0;
}
