// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "base/mem.h"
#include "client/client.h"
#include "test.h"

TEST("server and clients meet at the same place, which depends on who they are")
{
	auto_sbuf struct sbuf sock = SBUF(4096);
	auto_sbuf struct sbuf data = SBUF(4096);

	default_socket_path(&sock);
	default_data_dir(&data);
	CHECK(str_ends(sock.p, "/stoker.sock"));
	if (geteuid() == 0) {
		CHECK_STR(sock.p, "/run/stoker/stoker.sock");
		CHECK_STR(data.p, "/var/lib/stoker");
	} else {
		CHECK(str_ends(data.p, "/stoker"));
	}
}
