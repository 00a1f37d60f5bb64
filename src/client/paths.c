// SPDX-License-Identifier: Apache-2.0
/* paths.c - where server and clients meet when nobody says otherwise */
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/client.h"
#include "kinds/names.h"

void default_socket_path(struct sbuf *out)
{
	const char *run = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		sbuf_adds(out, SYSTEM_SOCKET);
	else if (run && *run)
		sbuf_addf(out, "%s/stoker/stoker.sock", run);
	else
		sbuf_addf(out, "/tmp/stoker-%u/stoker.sock", (unsigned)geteuid());
}

bool usual_socket_path(struct sbuf *out)
{
	default_socket_path(out);
	if (access(out->p, F_OK) == 0)
		return true;
	sbuf_reset(out);
	sbuf_adds(out, SYSTEM_SOCKET);
	return access(out->p, F_OK) == 0;
}

void default_data_dir(struct sbuf *out)
{
	const char *data = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");

	if (geteuid() == 0)
		sbuf_adds(out, "/var/lib/stoker");
	else if (data && *data)
		sbuf_addf(out, "%s/stoker", data);
	else
		sbuf_addf(out, "%s/.local/share/stoker", home && *home ? home : "/tmp");
}

void client_escape(struct sbuf *out, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || strchr("-_.~", c))
			sbuf_addc(out, (char)c);
		else
			sbuf_addf(out, "%%%02X", c);
	}
}

char *client_own_namespace(void)
{
	struct passwd *pw = getpwuid(geteuid());
	char label[NAME_LABEL_LEN] = "default";

	if (geteuid() != 0 && pw)
		name_make_label(pw->pw_name, label);
	return xstrdup(label);
}
