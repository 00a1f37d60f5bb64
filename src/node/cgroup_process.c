// SPDX-License-Identifier: Apache-2.0
/* cgroup_process.c - groups for processes that no runtime puts there
 *
 * A runtime makes a group in every hierarchy there is.  Each of them costs a process that joins it some tens of
 * microseconds on v1, so those for plain processes are made only where they are needed: where everything in them can be
 * found and killed, where memory and processor time are counted, and where devices can be kept from them.
 *
 * Devices are kept away by number, whatever their names: by the list of the devices controller on v1, by a program of a
 * few instructions on v2, which the kernel asks whenever something in the group opens a device.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "node/cgroup_parts.h"
#include "node/runtime_parts.h"

#define JOINS_MAX (64u * 1024)

static bool has_controller(const struct hierarchy *h, const char *name)
{
	struct str rest = str_of(strrchr(h->root, '/') + 1), part;

	/* "cpu,cpuacct" are two in one. */
	while (str_split(&rest, ',', &part))
		if (str_eq(part, name))
			return true;
	return false;
}

static bool is_needed(const struct cgroups *h, const struct hierarchy *one, bool devices)
{
	return one == cgroup_best_for_killing(h) || has_controller(one, "memory") || has_controller(one, "cpuacct") ||
	       (devices && has_controller(one, "devices"));
}

int cgroup_make_process(const struct cgroups *g, const char *path, const struct cgroup_limits *limits, bool devices,
			char **ret_joins, struct err *e)
{
	auto_sbuf struct sbuf joins = SBUF(JOINS_MAX);

	if (!cgroup_path_ok(path))
		return err_set(e, ERR_INVALID, "cgroup path %s is not one of ours", path ? path : "(none)");
	if (!g->n)
		return err_set(e, ERR_UNAVAILABLE, "no cgroup file system is mounted at " CGROUP_ROOT);
	for (int i = 0; i < g->n; i++) {
		if (!is_needed(g, &g->at[i], devices))
			continue;
		if (cgroup_make_in(&g->at[i], path, e) < 0)
			return -1;
		sbuf_addf(&joins, "%s%s/cgroup.procs\n", g->at[i].root, path);
	}
	if (cgroup_set_limits(g, path, limits, e) < 0)
		return -1;
	*ret_joins = sbuf_steal(&joins);
	return 0;
}

int cgroup_read_peak(const struct cgroups *g, const char *path, struct cgroup_peak *ret)
{

	if (!cgroup_path_ok(path))
		return -1;
	ret->cpu_ns = cgroup_read_at(g->v2, path, "cpuacct", "cpuacct.usage", "cpu.stat", g->v2 ? "usage_usec" : NULL);
	ret->memory_bytes = cgroup_read_at(g->v2, path, "memory", "memory.max_usage_in_bytes", "memory.peak", NULL);
	/* Kernels before 5.19 do not remember the most on v2. */
	if (ret->memory_bytes < 0 && g->v2)
		ret->memory_bytes = cgroup_read_at(true, path, NULL, NULL, "memory.current", NULL);
	if (ret->cpu_ns < 0)
		return -1;
	ret->cpu_ns *= g->v2 ? 1000 : 1;
	ret->memory_bytes = ret->memory_bytes < 0 ? 0 : ret->memory_bytes;
	return 0;
}

/* --- devices --- */

static int deny_v1(const char *root, const char *path, const struct cgroup_device *d, size_t n, struct err *e)
{
	auto_free char *file = xasprintf("%s%s/devices.deny", root, path);

	for (size_t i = 0; i < n; i++) {
		char rule[64];

		snprintf(rule, sizeof(rule), "c %u:%u rwm", d[i].major, d[i].minor);
		if (cgroup_write(file, rule) < 0)
			return err_errno(e, ERR_UNAVAILABLE, "cannot keep device %u:%u away (%s)", d[i].major,
					 d[i].minor, file);
	}
	return 0;
}

#define INSN(code_, dst, src, off_, imm_)                                                                              \
	((struct bpf_insn){                                                                                            \
		.code = (code_), .dst_reg = (dst), .src_reg = (src), .off = (int16_t)(off_), .imm = (imm_) })
#define LOAD(dst, field) INSN(BPF_LDX | BPF_MEM | BPF_W, dst, BPF_REG_1, offsetof(struct bpf_cgroup_dev_ctx, field), 0)
#define DENY_EACH        2 /* instructions for a device, */
#define DENY_FRAME       9 /* and for the rest */

/* Says no to the character devices of the list, yes to everything else; returns how many instructions. */
static size_t make_program(struct bpf_insn *at, const struct cgroup_device *d, size_t n)
{
	struct bpf_insn *start = at;
	size_t left = n * DENY_EACH;

	*at++ = LOAD(BPF_REG_2, access_type);
	*at++ = INSN(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_2, 0, 0, 0xffff);
	*at++ = LOAD(BPF_REG_3, major);
	*at++ = LOAD(BPF_REG_4, minor);
	*at++ = INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_2, 0, left, BPF_DEVCG_DEV_CHAR);
	for (size_t i = 0; i < n; i++) {
		left -= DENY_EACH;
		*at++ = INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_3, 0, 1, (int32_t)d[i].major);
		*at++ = INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_4, 0, left + 2, (int32_t)d[i].minor);
	}
	*at++ = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 1);
	*at++ = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	*at++ = INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
	*at++ = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	return (size_t)(at - start);
}

static int deny_v2(const char *path, const struct cgroup_device *d, size_t n, struct err *e)
{
	auto_free struct bpf_insn *program = xcalloc(DENY_FRAME + n * DENY_EACH, sizeof(*program));
	auto_free char *dir = xasprintf(CGROUP_ROOT "%s", path);
	auto_close int group = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	union bpf_attr load = { .prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
				.insns = (uintptr_t)program,
				.insn_cnt = (uint32_t)make_program(program, d, n),
				.license = (uintptr_t) "Apache-2.0" };
	auto_close int loaded = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
	union bpf_attr attach = { .target_fd = (uint32_t)group,
				  .attach_bpf_fd = (uint32_t)loaded,
				  .attach_type = BPF_CGROUP_DEVICE,
				  .attach_flags = BPF_F_ALLOW_MULTI };

	if (group < 0 || loaded < 0 || syscall(SYS_bpf, BPF_PROG_ATTACH, &attach, sizeof(attach)) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot keep devices from group %s", path);
	return 0;
}

int cgroup_deny_devices(const struct cgroups *g, const char *path, const struct cgroup_device *d, size_t n,
			struct err *e)
{

	if (!n)
		return 0;
	if (!cgroup_path_ok(path))
		return err_set(e, ERR_INVALID, "cgroup path %s is not one of ours", path ? path : "(none)");
	if (g->v2)
		return deny_v2(path, d, n, e);
	for (int i = 0; i < g->n; i++)
		if (has_controller(&g->at[i], "devices"))
			return deny_v1(g->at[i].root, path, d, n, e);
	return err_set(e, ERR_UNAVAILABLE, "this machine has no control group for devices");
}
