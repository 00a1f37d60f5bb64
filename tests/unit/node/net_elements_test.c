// SPDX-License-Identifier: Apache-2.0
#include "node/net_elements.h"

#include <stdio.h>

#include "node/net_lab.h"
#include "test.h"

#define ADDRESS 0x0af40002u /* 10.244.0.2 */

static struct element_key key_of(uint32_t ip)
{
	struct element_key k = { 0 };

	element_key_ip(&k, ip);
	return k;
}

TEST("elements of sets, concatenations and verdict maps are what nft would have put there")
{
	struct elements *b = NULL;
	struct element_key ip = key_of(ADDRESS);
	struct element_key link = { 0 };
	struct err e = ERR_INIT;
	struct lab lab;

	lab_enter(&lab);
	lab_shell(&lab, -1,
		  "nft 'add table inet t; add set inet t s { type ipv4_addr; }; add chain inet t g;"
		  "add set inet t c { type ifname . ipv4_addr; }; add map inet t m { type ipv4_addr : verdict; }'");
	CHECK_INT(elements_open(&b, &e), 0);
	element_key_link(&link, "eth0");
	element_key_ip(&link, ADDRESS);
	elements_add(b, "t", "s", &ip, NULL);
	elements_add(b, "t", "c", &link, NULL);
	elements_add(b, "t", "m", &ip, "g");
	CHECK_INT(elements_commit(b, &e), 0);
	CHECK_STR(lab_shell(&lab, -1, "nft list set inet t s | grep -o 'elements.*'"), "elements = { 10.244.0.2 }");
	CHECK_STR(lab_shell(&lab, -1, "nft list set inet t c | grep -o 'elements.*'"),
		  "elements = { \"eth0\" . 10.244.0.2 }");
	CHECK_STR(lab_shell(&lab, -1, "nft list map inet t m | grep -o 'elements.*'"),
		  "elements = { 10.244.0.2 : goto g }");
	elements_add(b, "t", "s", &ip, NULL); /* again is fine */
	elements_remove(b, "t", "c", &link);
	elements_remove(b, "t", "m", &ip);
	CHECK_INT(elements_commit(b, &e), 0);
	CHECK_STR(lab_shell(&lab, -1, "nft list table inet t | grep -c elements"), "1");
	elements_close(b);
	lab_leave(&lab);
}

TEST("a batch of which one element fails changes nothing, and the next one works")
{
	struct elements *b = NULL;
	struct element_key there = key_of(ADDRESS);
	struct element_key not_there = key_of(ADDRESS + 1);
	struct err e = ERR_INIT;
	struct lab lab;

	lab_enter(&lab);
	lab_shell(&lab, -1, "nft 'add table inet t; add set inet t s { type ipv4_addr; }'");
	CHECK_INT(elements_open(&b, &e), 0);
	CHECK_INT(elements_commit(b, &e), 0); /* nothing to do */
	elements_add(b, "t", "s", &there, NULL);
	elements_remove(b, "t", "s", &not_there);
	CHECK_INT(elements_commit(b, &e), -1);
	CHECK_INT(e.kind, ERR_UNAVAILABLE);
	elements_add(b, "t", "nosuch", &there, NULL);
	CHECK_INT(elements_commit(b, &e), -1);
	CHECK_STR(lab_shell(&lab, -1, "nft list table inet t | grep -c elements"), "0");
	for (uint32_t i = 0; i < 3000; i++) {
		struct element_key k = key_of(ADDRESS + i);

		elements_add(b, "t", "s", &k, NULL);
	}
	CHECK_INT(elements_commit(b, &e), 0);
	CHECK_STR(lab_shell(&lab, -1, "nft list set inet t s | grep -oE '10[.]244[.0-9]+' | wc -l"), "3000");
	elements_close(b);
	lab_leave(&lab);
}
