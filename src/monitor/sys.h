// SPDX-License-Identifier: Apache-2.0
/* sys.h - system calls without a C library
 *
 * The monitor is started once for each container, and most of what a small program costs is its C library: five pages
 * to map instead of two hundred make a start five times as fast.  The library's headers are used for types and numbers
 * only.  Every call returns the kernel's value: negative is -errno.
 */
#ifndef STOKER_MONITOR_SYS_H
#define STOKER_MONITOR_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

#if defined(__x86_64__)
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
	return x0;
}
#else
#error "the monitor knows the system calls of x86-64 and aarch64 only"
#endif

/* Up to six arguments, numbers or pointers. */
#define SYS_ARG(x)                                  (long)(x)
#define SYS_0(n)                                    sys6(n, 0, 0, 0, 0, 0, 0)
#define SYS_1(n, a)                                 sys6(n, SYS_ARG(a), 0, 0, 0, 0, 0)
#define SYS_2(n, a, b)                              sys6(n, SYS_ARG(a), SYS_ARG(b), 0, 0, 0, 0)
#define SYS_3(n, a, b, c)                           sys6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), 0, 0, 0)
#define SYS_4(n, a, b, c, d)                        sys6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), 0, 0)
#define SYS_5(n, a, b, c, d, e)                     sys6(n, SYS_ARG(a), SYS_ARG(b), SYS_ARG(c), SYS_ARG(d), SYS_ARG(e), 0)
#define SYS_PICK(_0, _1, _2, _3, _4, _5, name, ...) name
#define SYS(...)                                    SYS_PICK(__VA_ARGS__, SYS_5, SYS_4, SYS_3, SYS_2, SYS_1, SYS_0)(__VA_ARGS__)

__attribute__((noreturn)) void sys_exit(int code);
/* A child that shares our memory and runs fn on a stack of its own, in namespaces of its own if `flags` say so; we
 * sleep until it executes something or ends. */
long sys_vfork(void (*fn)(void *arg), void *arg, void *stack_top, long flags);
long sys_open(const char *path, int flags, int mode);
long sys_openat(int dir, const char *path, int flags);
long sys_read(int fd, void *buf, size_t n);
long sys_write(int fd, const void *buf, size_t n);
void sys_close(int fd);
int64_t sys_clock_ms(void);
/* Seconds since 1970, and nanoseconds. */
int64_t sys_clock_wall(uint32_t *ret_ns);
int64_t sys_clock_wall_us(void);

/* What the compiler wants to have, and little more. */
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t text_len(const char *s);
int text_eq(const char *a, const char *b);
int text_has(const char *s, char c);
/* Appends to `at`, without a NUL; returns the new end. */
char *text_add(char *at, const char *s);
char *text_add_number(char *at, uint64_t n, int digits);
/* The number at the start of a text, -1 if there is none. */
int64_t text_number(const char *s);

#endif
