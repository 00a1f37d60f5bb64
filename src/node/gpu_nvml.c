// SPDX-License-Identifier: Apache-2.0
/* gpu_nvml.c - asking NVIDIA's management library
 *
 * The library maps much memory, may take seconds to wake cards up, and hangs with some broken ones.  So a child process
 * loads it, says what it found as one line of JSON, and ends; a child that does not end in time is killed, and the
 * kernel's files must do.
 *
 * How much cards are used is asked of a second child that stays, for as long as somebody wants to know.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/gpu_parts.h"

#define WAIT_MS  20000 /* eight cards without the persistence daemon take about ten seconds to wake up */
#define LIST_MAX (1u << 20)
#define TEXT_LEN 96
#define LOOKS    4 /* a second apart, make a line about how much cards are used */

/* The part of nvml.h that is used here. */
typedef struct nvml_device *nvml_handle;

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_pci {
	char bus_legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char bus_id[32];
};

/* Percent of the last moments in which anything ran, or memory was read or written. */
struct nvml_use {
	unsigned gpu, memory;
};

struct nvml {
	int (*init)(void);
	int (*count)(unsigned *ret);
	int (*by_index)(unsigned index, nvml_handle *ret);
	int (*uuid)(nvml_handle h, char *out, unsigned n);
	int (*name)(nvml_handle h, char *out, unsigned n);
	int (*memory)(nvml_handle h, struct nvml_memory *ret);
	int (*minor)(nvml_handle h, unsigned *ret);
	int (*pci)(nvml_handle h, struct nvml_pci *ret);
	int (*use)(nvml_handle h, struct nvml_use *ret);
	int (*p2p)(nvml_handle a, nvml_handle b, int what, int *ret);
};

#define P2P_NVLINK 2 /* of nvmlDeviceGetP2PStatus(): whether the two have NVLink, directly or through a switch */
#define P2P_OK     0

static const struct {
	const char *name;
	size_t offset;
	bool optional; /* not in older drivers */
} symbols[] = {
	{ "nvmlInit_v2", offsetof(struct nvml, init) },
	{ "nvmlDeviceGetCount_v2", offsetof(struct nvml, count) },
	{ "nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, by_index) },
	{ "nvmlDeviceGetUUID", offsetof(struct nvml, uuid) },
	{ "nvmlDeviceGetName", offsetof(struct nvml, name) },
	{ "nvmlDeviceGetMemoryInfo", offsetof(struct nvml, memory) },
	{ "nvmlDeviceGetMinorNumber", offsetof(struct nvml, minor) },
	{ "nvmlDeviceGetPciInfo_v3", offsetof(struct nvml, pci) },
	{ "nvmlDeviceGetUtilizationRates", offsetof(struct nvml, use), true },
	{ "nvmlDeviceGetP2PStatus", offsetof(struct nvml, p2p), true },
};

static bool load(const char *path, struct nvml *ret)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; lib && i < ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(lib, symbols[i].name);

		if (!symbol && !symbols[i].optional)
			return false;
		memcpy((char *)ret + symbols[i].offset, &symbol, sizeof(symbol));
	}
	return lib != NULL;
}

static json_t *describe(const struct nvml *nvml, nvml_handle h)
{
	char uuid[TEXT_LEN] = "";
	char name[TEXT_LEN] = "";
	struct nvml_memory memory = { 0 };
	struct nvml_pci pci = { .bus_id = "" };
	unsigned minor = 0;
	/* A card that has fallen off the bus still has a handle, but answers nothing. */
	bool broken = nvml->uuid(h, uuid, sizeof(uuid)) != 0 || nvml->memory(h, &memory) != 0;

	if (nvml->minor(h, &minor) != 0 || nvml->pci(h, &pci) != 0)
		return NULL;
	(void)!nvml->name(h, name, sizeof(name));
	uuid[sizeof(uuid) - 1] = name[sizeof(name) - 1] = pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
	return json_pack("{s:o, s:o, s:I, s:i, s:o, s:b}", "uuid", jsonx_string(uuid), "name", jsonx_string(name),
			 "memory", (json_int_t)memory.total, "minor", (int)minor, "bus", jsonx_string(pci.bus_id),
			 "broken", broken);
}

/* Cards that do not answer are not asked again. */
static void add_links(const struct nvml *nvml, json_t *list, const nvml_handle *handles)
{
	json_t *a;
	json_t *b;
	size_t i;
	size_t k;

	json_array_foreach (list, i, a) {
		json_t *links = json_array();

		json_object_set_new(a, "links", links);
		json_array_foreach (nvml->p2p ? list : NULL, k, b) {
			int status = -1;

			if (k != i && !jsonx_bool_or(a, "broken", false) && !jsonx_bool_or(b, "broken", false) &&
			    nvml->p2p(handles[i], handles[k], P2P_NVLINK, &status) == 0 && status == P2P_OK)
				json_array_append(links, json_object_get(b, "bus"));
		}
	}
}

static json_t *list_cards(const char *library)
{
	struct nvml nvml;
	json_t *list = json_array();
	nvml_handle *handles = NULL;
	size_t nhandles = 0;
	size_t cap = 0;
	unsigned n = 0;

	if (!load(library, &nvml) || nvml.init() != 0 || nvml.count(&n) != 0)
		return list;
	for (unsigned i = 0; i < n; i++) {
		nvml_handle h;
		json_t *card = nvml.by_index(i, &h) == 0 ? describe(&nvml, h) : NULL;

		if (!card)
			continue;
		json_array_append_new(list, card);
		ARRAY_PUSH(handles, nhandles, cap, h);
	}
	add_links(&nvml, list, handles);
	free(handles);
	return list;
}

static bool write_all(int fd, struct str text)
{
	for (size_t at = 0; at < text.n;) {
		ssize_t n = write(fd, text.p + at, text.n - at);

		if (n <= 0 && errno != EINTR)
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static _Noreturn void child(int fd, const char *library)
{
	auto_sbuf struct sbuf text = SBUF(LIST_MAX);
	json_t *list;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	list = list_cards(library);
	jsonx_dump(list, &text);
	write_all(fd, sbuf_str(&text));
	_exit(0);
}

/* ---- how much they are used ---- */

/* A moment's number does for a line if it is the largest of those. */
static void look(const struct nvml *nvml, unsigned n, json_t *line)
{
	for (unsigned i = 0; i < n; i++) {
		struct nvml_pci pci = { .bus_id = "" };
		struct nvml_use use;
		nvml_handle h;

		if (nvml->by_index(i, &h) != 0 || nvml->pci(h, &pci) != 0 || nvml->use(h, &use) != 0)
			continue;
		pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
		if ((int)use.gpu >= json_integer_value(json_object_get(line, pci.bus_id)))
			json_object_set_new(line, pci.bus_id, json_integer((json_int_t)use.gpu));
	}
}

/* It outlives many turns of the server: it keeps nothing of it open, and hears no signal in its place. */
static void leave_server(int fd, pid_t server)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != server || dup2(fd, 3) < 0)
		_exit(0);
	(void)!syscall(SYS_close_range, 4u, ~0u, 0);
	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
}

static _Noreturn void watcher(int fd, const char *library, pid_t server)
{
	struct nvml nvml;
	unsigned n = 0;

	leave_server(fd, server);
	if (!load(library, &nvml) || !nvml.use || nvml.init() != 0 || nvml.count(&n) != 0)
		_exit(0);
	for (;;) {
		auto_sbuf struct sbuf text = SBUF(LIST_MAX);
		json_auto_t *line = json_object();

		for (int i = 0; i < LOOKS; i++) {
			look(&nvml, n, line);
			sleep(1);
		}
		jsonx_dump(line, &text);
		sbuf_addc(&text, '\n');
		if (!write_all(3, sbuf_str(&text)))
			_exit(0);
	}
}

/* Reads until the child closes its end; false if that takes too long. */
static bool read_all(int fd, struct sbuf *out)
{
	int64_t end = clock_mono_ms() + WAIT_MS;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = end - clock_mono_ms();
		char buf[4096];
		ssize_t n;

		if (left <= 0 || (poll(&p, 1, (int)left) < 0 && errno != EINTR))
			return false;
		if (!(p.revents & (POLLIN | POLLHUP)))
			continue;
		n = read(fd, buf, sizeof(buf));
		if (n <= 0)
			return n == 0;
		sbuf_add(out, buf, (size_t)n);
	}
}

/* In a test's tree the library must be in that tree, never this machine's. */
static char *library_path(const char *root)
{
	json_auto_t *dirs = NULL;
	json_t *dir;
	size_t i;

	if (!*root)
		return xstrdup("libnvidia-ml.so.1");
	dirs = gpu_driver_dirs(root);
	json_array_foreach (dirs, i, dir) {
		auto_free char *path = xasprintf("%s/libnvidia-ml.so.1", json_string_value(dir));
		char *real = gpu_path_real(root, path);

		if (real)
			return real;
	}
	return NULL;
}

json_t *gpu_nvml_list(const char *root)
{
	auto_free char *library = library_path(root);
	auto_sbuf struct sbuf text = SBUF(LIST_MAX);
	struct err e = ERR_INIT;
	json_t *list = NULL;
	int fds[2];
	bool whole;
	pid_t pid;

	if (!library || pipe2(fds, O_CLOEXEC) < 0)
		return NULL;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		child(fds[1], library);
	close(fds[1]);
	whole = pid > 0 && read_all(fds[0], &text);
	close(fds[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (whole && text.n && jsonx_parse(text.p, text.n, NULL, NULL, &list, &e) < 0)
		return NULL;
	return list;
}

pid_t gpu_nvml_watch(const char *root, int *ret_fd)
{
	auto_free char *library = library_path(root);
	pid_t server = getpid();
	int fds[2];
	pid_t pid;

	if (!library || pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		watcher(fds[1], library, server);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return -1;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	*ret_fd = fds[0];
	return pid;
}
