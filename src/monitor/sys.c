// SPDX-License-Identifier: Apache-2.0
/* sys.c - the first instruction, the calls that need more than their arguments, and the memory functions */
#include "monitor/sys.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <time.h>

#include "monitor/monitor.h"

/* The kernel leaves argc at the top of the stack; the rest follows it. */
#if defined(__x86_64__)
__asm__(".globl _start\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call monitor_main\n"
	"	ud2\n");

long sys_vfork(void (*fn)(void *arg), void *arg, void *stack_top, long flags)
{
	long ret;

	/* The child has our registers, so fn and arg reach it that way; its stack is empty. */
	__asm__ volatile("xor %%r10d, %%r10d\n\t"
			 "xor %%r8d, %%r8d\n\t"
			 "syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %[arg], %%rdi\n\t"
			 "call *%[fn]\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(ret)
			 : "a"(SYS_clone), "D"(CLONE_VM | CLONE_VFORK | SIGCHLD | flags), "S"(stack_top),
			   "d"(0L), [fn] "r"(fn), [arg] "r"(arg)
			 : "rcx", "r8", "r10", "r11", "memory", "cc");
	return ret;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n"
	"_start:\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	mov x0, sp\n"
	"	bl monitor_main\n"
	"	brk #1\n");

long sys_vfork(void (*fn)(void *arg), void *arg, void *stack_top, long flags)
{
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = CLONE_VM | CLONE_VFORK | SIGCHLD | flags;
	register void *x1 __asm__("x1") = stack_top;
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = 0;

	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, #0\n\t"
			 "mov x0, %[arg]\n\t"
			 "blr %[fn]\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [fn] "r"(fn), [arg] "r"(arg)
			 : "x30", "memory", "cc");
	return x0;
}
#endif

void sys_exit(int code)
{
	for (;;)
		SYS(SYS_exit_group, code);
}

long sys_open(const char *path, int flags, int mode)
{
	return SYS(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

long sys_openat(int dir, const char *path, int flags)
{
	return SYS(SYS_openat, dir, path, flags | O_CLOEXEC, 0);
}

long sys_read(int fd, void *buf, size_t n)
{
	return SYS(SYS_read, fd, buf, n);
}

long sys_write(int fd, const void *buf, size_t n)
{
	return SYS(SYS_write, fd, buf, n);
}

void sys_close(int fd)
{
	if (fd >= 0)
		SYS(SYS_close, fd);
}

int64_t sys_clock_ms(void)
{
	struct timespec ts;

	SYS(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t sys_clock_wall(uint32_t *ret_ns)
{
	struct timespec ts;

	SYS(SYS_clock_gettime, CLOCK_REALTIME, &ts);
	*ret_ns = (uint32_t)ts.tv_nsec;
	return ts.tv_sec;
}

int64_t sys_clock_wall_us(void)
{
	uint32_t ns;
	int64_t s = sys_clock_wall(&ns);

	return s * 1000000 + ns / 1000;
}

/* --- memory and text --- */

#if defined(__x86_64__)
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	void *ret = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	return ret;
}
#else
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}
#endif

void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	if (t < f)
		for (size_t i = 0; i < n; i++)
			t[i] = f[i];
	else
		while (n--)
			t[n] = f[n];
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = (char)byte;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] - y[i];
	return 0;
}

size_t text_len(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int text_eq(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

int text_has(const char *s, char c)
{
	while (*s && *s != c)
		s++;
	return *s == c;
}

char *text_add(char *at, const char *s)
{
	while (*s)
		*at++ = *s++;
	return at;
}

char *text_add_number(char *at, uint64_t n, int digits)
{
	char buf[20];
	int len = 0;

	do {
		buf[len++] = (char)('0' + n % 10);
		n /= 10;
	} while (n || len < digits);
	while (len)
		*at++ = buf[--len];
	return at;
}

int64_t text_number(const char *s)
{
	int64_t n = 0;

	if (*s < '0' || *s > '9')
		return -1;
	for (; *s >= '0' && *s <= '9' && n < INT64_MAX / 16; s++)
		n = n * 10 + (*s - '0');
	return n;
}
