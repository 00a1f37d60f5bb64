// SPDX-License-Identifier: Apache-2.0
/* token_file.h - a token that someone else renews: read again when its file is another one */
#ifndef STOKER_CLIENT_TOKEN_FILE_H
#define STOKER_CLIENT_TOKEN_FILE_H

#include <stdbool.h>

struct token_file;

/* `text` is what the file had just now. */
struct token_file *token_file_new(const char *path, const char *text);
void token_file_free(struct token_file *t);
/* Looks at the file; true if it has another token now.  One that cannot be read is being written: the last one stays.
 */
bool token_file_changed(struct token_file *t);
const char *token_file_text(const struct token_file *t);

#endif
