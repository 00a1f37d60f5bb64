// SPDX-License-Identifier: Apache-2.0
/* main.c - one program, many names: picks a command by argv[1] */
#include <stdio.h>

int main(void)
{
	puts("stoker");
	return 0;
}
