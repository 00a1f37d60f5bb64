// SPDX-License-Identifier: Apache-2.0
/* test.h - unit tests: names are sentences, checks go on after a failure
 *
 *	TEST("a missing image is reported with its path")
 *	{
 *		CHECK_STR(err_cause_field(&e, 0), "spec.containers[0].image");
 *	}
 */
#ifndef STOKER_TEST_H
#define STOKER_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct test {
	const char *name;
	const char *file;
	void (*run)(void);
	struct test *next;
};

void test_register(struct test *t);
/* Counts a failure and prints it. */
void test_fail(const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A fresh directory, removed at the end of the test run. */
const char *test_dir(void);

#define TEST_CAT2(a, b) a##b
#define TEST_CAT(a, b)  TEST_CAT2(a, b)
#define TEST(sentence)                                                                                                 \
	static void TEST_CAT(test_fn_, __LINE__)(void);                                                                \
	static struct test TEST_CAT(test_row_, __LINE__) = { sentence, __FILE__, TEST_CAT(test_fn_, __LINE__), NULL }; \
	__attribute__((constructor)) static void TEST_CAT(test_reg_, __LINE__)(void)                                   \
	{                                                                                                              \
		test_register(&TEST_CAT(test_row_, __LINE__));                                                         \
	}                                                                                                              \
	static void TEST_CAT(test_fn_, __LINE__)(void)

#define CHECK(cond)                                                                                                    \
	do {                                                                                                           \
		if (!(cond))                                                                                           \
			test_fail(__FILE__, __LINE__, "not true: %s", #cond);                                          \
	} while (0)

#define CHECK_INT(got, want)                                                                                           \
	do {                                                                                                           \
		long long got_ = (long long)(got), want_ = (long long)(want);                                          \
		if (got_ != want_)                                                                                     \
			test_fail(__FILE__, __LINE__, "%s is %lld, not %lld", #got, got_, want_);                      \
	} while (0)

#define CHECK_STR(got, want)                                                                                           \
	do {                                                                                                           \
		const char *got_ = (got), *want_ = (want);                                                             \
		if (!got_ || !want_ ? got_ != want_ : strcmp(got_, want_) != 0)                                        \
			test_fail(__FILE__, __LINE__, "%s is\n      \"%s\"\n  not \"%s\"", #got,                       \
				  got_ ? got_ : "(null)", want_ ? want_ : "(null)");                                   \
	} while (0)

#endif
