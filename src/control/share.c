// SPDX-License-Identifier: Apache-2.0
/* share.c - 3, "30%" */
#include "control/share.h"

#include <stdlib.h>

#define PERCENT_MAX 1000000 /* the API lets more through than 100, and the product must not overflow */

int64_t share_of(const json_t *number_or_percent, int64_t whole, bool up)
{
	const char *text = json_string_value(number_or_percent);
	int64_t percent;

	if (!text)
		return json_integer_value(number_or_percent);
	percent = strtol(text, NULL, 10);
	if (percent < 0)
		return 0;
	if (percent > PERCENT_MAX)
		percent = PERCENT_MAX;
	return (whole * percent + (up ? 99 : 0)) / 100;
}
