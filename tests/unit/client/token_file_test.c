// SPDX-License-Identifier: Apache-2.0
#include "client/token_file.h"

#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "test.h"

TEST("a token is read again when its file is another one, and kept while there is none")
{
	auto_free char *path = xasprintf("%s/token", test_dir());
	struct err e = ERR_INIT;
	struct token_file *t = token_file_new(path, "first");

	CHECK(!token_file_changed(t));
	CHECK_INT(file_write(path, 0600, STR("first\n"), &e), 0);
	CHECK(!token_file_changed(t));
	CHECK_INT(file_write(path, 0600, STR("second\n"), &e), 0);
	CHECK(token_file_changed(t));
	CHECK_STR(token_file_text(t), "second");
	CHECK(!token_file_changed(t));
	unlink(path);
	CHECK(!token_file_changed(t));
	CHECK_INT(file_write(path, 0600, STR("\n"), &e), 0);
	CHECK(!token_file_changed(t));
	CHECK_STR(token_file_text(t), "second");
	token_file_free(t);
}
