// SPDX-License-Identifier: Apache-2.0
#include "sched/pbs_books.h"

#include <time.h>
#include <unistd.h>

#include "api/server.h"
#include "base/clock.h"
#include "base/file.h"

#define START 1795000000

struct lab {
	struct server s;
	struct client *client;
	struct informer *servers;
	struct pbs_books *books;
	char dir[64];
};

static void settle(struct lab *l)
{
	for (int i = 0; i < 4; i++)
		server_settle(&l->s);
}

static void begin(struct lab *l)
{
	struct err e = ERR_INIT;

	CHECK_INT(pbs_books_new(l->client, l->dir, l->servers, &l->books, &e), 0);
	settle(l);
}

static struct lab lab_new(void)
{
	static const struct ref servers = { .api_version = "stoker.dev/v1", .plural = "pbsservers" };
	struct lab l = { .s = server_new(), .dir = "/tmp/pbs-books-XXXXXX" };

	CHECK(mkdtemp(l.dir) != NULL);
	clock_fake(START);
	l.client = client_local_new(l.s.api, &caller_system);
	l.servers = informer_new(l.client, &servers, NULL, &(struct informer_handlers){ 0 });
	begin(&l);
	return l;
}

static void next_server(struct lab *l)
{
	pbs_books_free(l->books);
	begin(l);
}

static void lab_done(struct lab *l)
{
	auto_free char *command = xasprintf("rm -r %s", l->dir);

	pbs_books_free(l->books);
	informer_free(l->servers);
	client_free(l->client);
	server_done(&l->s);
	clock_fake(-1);
	CHECK_INT(system(command), 0);
}

static void write_status(struct lab *l, const char *status)
{
	struct api_request req = server_request(&l->s, VERB_PATCH, "stoker.dev/v1/pbsjobs", "default", "j");
	json_auto_t *done = NULL;

	req.patch = PATCH_MERGE;
	req.subresource = "status";
	done = server_call(&l->s, &req, status);
	if (!done)
		test_fail(__FILE__, __LINE__, "%s", l->s.message);
	settle(l);
}

static char *day_path(const struct lab *l)
{
	time_t t = (time_t)clock_wall();
	char day[16];
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(day, sizeof(day), "%Y%m%d", &tm);
	return xasprintf("%s/%s", l->dir, day);
}

/* The types of the records of this day: "QSE". */
static void check_types(const struct lab *l, const char *expected)
{
	auto_free char *path = day_path(l);
	auto_sbuf struct sbuf text = SBUF(1u << 20), types = SBUF(100);
	struct err e = ERR_INIT;
	struct str rest, line, part;

	file_read(path, 1u << 20, &text, &e);
	rest = sbuf_str(&text);
	while (rest.n && str_split(&rest, '\n', &line)) {
		str_split(&line, ';', &part);
		str_split(&line, ';', &part);
		sbuf_add(&types, part.p, part.n);
	}
	CHECK_STR(types.p ? types.p : "", expected);
}

/* As a server leaves it that is killed before it has written the last line. */
static void lose_line(const struct lab *l)
{
	auto_free char *path = day_path(l);
	auto_sbuf struct sbuf text = SBUF(1u << 20);
	struct err e = ERR_INIT;

	CHECK_INT(file_read(path, 1u << 20, &text, &e), 0);
	do
		text.n--;
	while (text.n && text.p[text.n - 1] != '\n');
	CHECK_INT(file_write(path, 0600, sbuf_str(&text), &e), 0);
}

TEST("each change of a PBS job is in its day's file once, whatever becomes of the server")
{
	struct lab l = lab_new();

	server_do(&l.s, VERB_CREATE, "stoker.dev/v1/pbsjobs", "default", NULL,
		  "{'metadata':{'name':'j'},'spec':{'script':'true','owner':'nobody'}}");
	settle(&l);
	clock_fake(START + 10);
	write_status(&l, "{'status':{'state':'R','startCount':1,'startTime':'2026-11-18T11:06:50Z'}}");
	next_server(&l);
	check_types(&l, "QS");
	next_server(&l);
	check_types(&l, "QS");
	clock_fake(START + 20);
	write_status(&l, "{'status':{'state':'C','exitStatus':0,'completionTime':'2026-11-18T11:07:00Z'}}");
	next_server(&l);
	check_types(&l, "QSE");
	pbs_books_free(l.books);
	lose_line(&l);
	check_types(&l, "QS");
	clock_fake(START + 90000);
	begin(&l);
	next_server(&l);
	check_types(&l, "E");
	next_server(&l);
	check_types(&l, "E");
	clock_fake(START + 180000);
	next_server(&l);
	check_types(&l, "");
	server_do(&l.s, VERB_DELETE, "stoker.dev/v1/pbsjobs", "default", "j", NULL);
	settle(&l);
	next_server(&l);
	check_types(&l, "");
	lab_done(&l);
}

TEST("ends of elements that a killed server had not written down are made up for, once")
{
	struct lab l = lab_new();

	server_do(&l.s, VERB_CREATE, "stoker.dev/v1/pbsjobs", "default", NULL,
		  "{'metadata':{'name':'j'},'spec':{'script':'true','owner':'nobody','array':{'request':'1-2'}}}");
	settle(&l);
	clock_fake(START + 10);
	write_status(&l, "{'status':{'state':'R','active':[{'index':1,'state':'R','startCount':1,"
			 "'startTime':'2026-11-18T11:06:50Z'}]}}");
	write_status(&l, "{'status':{'state':'R','elements':{'C:0':'1'},'active':null}}");
	write_status(&l, "{'status':{'state':'R','elements':{'C:0':'1-2'}}}");
	next_server(&l);
	check_types(&l, "QSESE");
	pbs_books_free(l.books);
	for (int i = 0; i < 3; i++)
		lose_line(&l);
	check_types(&l, "QS");
	begin(&l);
	next_server(&l);
	check_types(&l, "QSESE");
	next_server(&l);
	check_types(&l, "QSESE");
	lab_done(&l);
}
