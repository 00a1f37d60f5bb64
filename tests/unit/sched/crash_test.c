// SPDX-License-Identifier: Apache-2.0
/* A scheduling pass that binds gangs and single pods, evicts victims and says why others wait, with the server killed
 * between any two of its writes, and right after each of its commits.
 *
 * A child process runs the story and kills itself at the n-th point; then the same directory is opened again, held
 * against what must be true at any time, and the story goes on to its end.
 *
 * The machine: n0 and n1 with four cards each; low1 and low2 hold those of n0.  Gang h (2 x 2 cards, the highest
 * priority) takes n1; gang g (3 x 1) evicts both low ones and takes n0; s gets the card that is left; big can never
 * start, and is told.  Victims come back as low1x and low2x, as a controller makes them, and run when h has ended.
 */
#include <signal.h>
#include <sys/wait.h>

#include "sched/cluster.h"
#include "sched/pod_work.h"

/* ---- a client that dies ---- */

struct mortal {
	struct client base;
	struct client *inner;
	int before; /* dies before this many-th write, */
	int after;  /* or at this many-th answer: its commit is done; 0: not so */
	int writes, answers;
};

static struct mortal *mortal_of(struct client *c)
{
	return (struct mortal *)c;
}

static void die(void)
{
	kill(getpid(), SIGKILL);
}

struct answer {
	struct mortal *m;
	client_done *done;
	void *arg;
};

static void on_answer(void *arg, const json_t *obj, const struct err *e)
{
	struct answer a = *(struct answer *)arg;

	if (++a.m->answers == a.m->after)
		die();
	free(arg);
	a.done(a.arg, obj, e);
}

static struct answer *write_comes(struct mortal *m, client_done *done, void *arg)
{
	struct answer *a = xcalloc(1, sizeof(*a));

	if (++m->writes == m->before)
		die();
	*a = (struct answer){ m, done, arg };
	return a;
}

static void mortal_create(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	struct mortal *m = mortal_of(c);

	m->inner->ops->create(m->inner, ref, obj, on_answer, write_comes(m, done, arg));
}

static void mortal_patch(struct client *c, const struct ref *ref, const char *type, const json_t *patch,
			 client_done *done, void *arg)
{
	struct mortal *m = mortal_of(c);

	m->inner->ops->patch(m->inner, ref, type, patch, on_answer, write_comes(m, done, arg));
}

static void mortal_list(struct client *c, const struct ref *ref, const struct list_options *o, client_done *done,
			void *arg)
{
	mortal_of(c)->inner->ops->list(mortal_of(c)->inner, ref, o, done, arg);
}

static void mortal_get(struct client *c, const struct ref *ref, client_done *done, void *arg)
{
	mortal_of(c)->inner->ops->get(mortal_of(c)->inner, ref, done, arg);
}

static void *mortal_watch(struct client *c, const struct ref *ref, const struct list_options *o, client_event *event,
			  void *arg)
{
	return mortal_of(c)->inner->ops->watch(mortal_of(c)->inner, ref, o, event, arg);
}

static void mortal_watch_stop(struct client *c, void *watch)
{
	mortal_of(c)->inner->ops->watch_stop(mortal_of(c)->inner, watch);
}

/* What the scheduler uses. */
static const struct client_ops mortal_ops = {
	.get = mortal_get,
	.list = mortal_list,
	.create = mortal_create,
	.patch = mortal_patch,
	.watch = mortal_watch,
	.watch_stop = mortal_watch_stop,
};

/* ---- the story ---- */

#define CARDS                                                                                                          \
	"[{\\\"index\\\":0,\\\"healthy\\\":true},{\\\"index\\\":1,\\\"healthy\\\":true},{\\\"index\\\":2,"             \
	"\\\"healthy\\\":true},{\\\"index\\\":3,\\\"healthy\\\":true}]"

static void make_card_node(struct cluster *c, const char *name)
{
	auto_free char *body = xasprintf("{'metadata':{'annotations':{'stoker.dev/gpus':'%s'}}}", CARDS);
	struct api_request req = server_request(&c->s, VERB_PATCH, "v1/nodes", "", name);

	make_node(c, name, "{'cpu':'64','memory':'64Gi','pods':'100','nvidia.com/gpu':'4'}");
	req.patch = PATCH_MERGE;
	json_decref(server_call(&c->s, &req, body));
	CHECK_INT(c->s.code, 200);
}

static void make_card_pod(struct cluster *c, const char *name, int cards, const char *class, const char *notes)
{
	auto_free char *body =
		xasprintf("{'metadata':{'name':'%s','annotations':{%s}},'spec':{'priorityClassName':'%s',"
			  "'containers':[{'name':'c','image':'host','resources':{'limits':{"
			  "'nvidia.com/gpu':'%d'}}}]}}",
			  name, notes, class, cards);

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

static void make_running(struct cluster *c, const char *name, const char *cards)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s','annotations':{'stoker.dev/cards':'%s'}},'target':{"
					 "'kind':'Node','name':'n0'}}",
					 name, cards);
	struct api_request req = server_request(&c->s, VERB_CREATE, "v1/pods", "default", name);

	make_card_pod(c, name, 2, "low", "");
	req.subresource = "binding";
	json_decref(server_call(&c->s, &req, body));
	CHECK_INT(c->s.code, 201);
}

#define GANG(name, size) "'stoker.dev/gang':'" name "','stoker.dev/gang-size':'" size "'"

static void make_story(struct cluster *c)
{
	server_do(&c->s, VERB_CREATE, "scheduling.k8s.io/v1/priorityclasses", "", NULL,
		  "{'metadata':{'name':'high'},'value':1000}");
	server_do(&c->s, VERB_CREATE, "scheduling.k8s.io/v1/priorityclasses", "", NULL,
		  "{'metadata':{'name':'middle'},'value':10}");
	server_do(&c->s, VERB_CREATE, "scheduling.k8s.io/v1/priorityclasses", "", NULL,
		  "{'metadata':{'name':'low'},'value':-10}");
	make_card_node(c, "n0");
	make_card_node(c, "n1");
	make_running(c, "low1", "0,1");
	make_running(c, "low2", "2,3");
	make_card_pod(c, "h0", 2, "high", GANG("h", "2"));
	make_card_pod(c, "h1", 2, "high", GANG("h", "2"));
	make_card_pod(c, "g0", 1, "middle", GANG("g", "3"));
	make_card_pod(c, "g1", 1, "middle", GANG("g", "3"));
	make_card_pod(c, "g2", 1, "middle", GANG("g", "3"));
	make_card_pod(c, "s", 1, "low", "");
	make_card_pod(c, "big", 8, "low", "");
}

static json_t *find_pod(struct cluster *c, const char *name)
{
	return server_ask(&c->s, VERB_GET, "v1/pods", "default", name, NULL);
}

static bool is_bound(struct cluster *c, const char *name)
{
	json_auto_t *pod = find_pod(c, name);

	return *jsonx_str_or(pod, "spec.nodeName", "");
}

/* What a node and a controller do about a victim: it comes back under another name, and is gone. */
static void let_go(struct cluster *c, const char *name, const char *again)
{
	struct api_request req = server_request(&c->s, VERB_DELETE, "v1/pods", "default", name);
	json_auto_t *pod = find_pod(c, name);
	json_auto_t *other = find_pod(c, again);

	if (!pod || !jsonx_at(pod, "metadata.deletionTimestamp"))
		return;
	if (!other)
		make_card_pod(c, again, 2, "low", "");
	req.grace_seconds = 0;
	json_decref(server_call(&c->s, &req, NULL));
}

static void turn_on(struct cluster *c)
{
	settle(c);
	let_go(c, "low1", "low1x");
	let_go(c, "low2", "low2x");
	settle(c);
}

static int told(struct cluster *c, const char *name)
{
	return str_starts(scheduled(c, name), "False Unschedulable");
}

/* The child: it does not return if it is to die.  How many writes and answers there were is its exit status. */
static void play(const char *dir, struct mortal m)
{
	struct cluster c = { .s = { .loop = loop_new(), .dir = xstrdup(dir) } };

	server_open(&c.s);
	make_story(&c);
	c.client = client_local_new(c.s.api, &caller_system);
	m.base = (struct client){ .ops = &mortal_ops, .loop = c.s.loop };
	m.inner = c.client;
	c.sched = sched_new(&m.base);
	for (int i = 0; i < 4; i++)
		turn_on(&c);
	for (int i = 0; i < 4000 && !told(&c, "big"); i++) {
		settle(&c);
		usleep(5000);
	}
	_exit(m.before || m.after ? 0 : m.writes > m.answers ? m.writes : m.answers);
}

/* ---- what must be true at any time ---- */

static const char *const names[] = { "h0", "h1", "g0", "g1", "g2", "s", "big", "low1", "low2", "low1x", "low2x" };

static void check_cards(struct cluster *c)
{
	card_set held[2] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		json_auto_t *pod = find_pod(c, names[i]);
		const char *node = jsonx_str_or(pod, "spec.nodeName", "");
		const char *cards =
			json_string_value(json_object_get(jsonx_at(pod, "metadata.annotations"), GIVEN_ANNOTATION));
		struct str rest = str_of(cards ? cards : "");
		struct str part;
		int n = 0;

		if (!*node || streq(jsonx_str_or(pod, "status.phase", ""), "Succeeded"))
			continue;
		while (rest.n && str_split(&rest, ',', &part)) {
			card_set one = (card_set)1 << (*part.p - '0');

			CHECK(!(held[node[1] - '0'] & one));
			held[node[1] - '0'] |= one;
			n++;
		}
		CHECK(n > 0);
	}
}

static void check_world(struct cluster *c)
{
	CHECK_INT(is_bound(c, "h0"), is_bound(c, "h1"));
	CHECK_INT(is_bound(c, "g0"), is_bound(c, "g1"));
	CHECK_INT(is_bound(c, "g0"), is_bound(c, "g2"));
	for (int i = 1; i <= 2; i++) {
		auto_free char *name = xasprintf("low%d", i), *again = xasprintf("low%dx", i);
		json_auto_t *victim = find_pod(c, name), *back = find_pod(c, again);

		CHECK(victim || back);
	}
	check_cards(c);
}

static void finish(struct cluster *c, const char *name)
{
	struct api_request req = server_request(&c->s, VERB_PATCH, "v1/pods", "default", name);

	req.patch = PATCH_MERGE;
	req.subresource = "status";
	json_decref(server_call(&c->s, &req, "{'status':{'phase':'Succeeded'}}"));
}

static void run_until_bound(struct cluster *c, const char *const *wanted, size_t n)
{
	bool all = false;

	for (int i = 0; i < 50 && !all; i++) {
		turn_on(c);
		check_world(c);
		all = true;
		for (size_t k = 0; k < n; k++)
			all = all && is_bound(c, wanted[k]);
	}
	for (size_t k = 0; k < n; k++)
		CHECK(is_bound(c, wanted[k]));
}

static void check_rest(const char *dir)
{
	static const char *const first[] = { "h0", "h1", "g0", "g1", "g2", "s" };
	static const char *const then[] = { "low1x", "low2x" };
	struct cluster c = { .s = { .loop = loop_new(), .dir = xstrdup(dir) } };

	server_open(&c.s);
	check_world(&c);
	c.client = client_local_new(c.s.api, &caller_system);
	c.sched = sched_new(c.client);
	run_until_bound(&c, first, ARRAY_SIZE(first));
	finish(&c, "h0");
	finish(&c, "h1");
	run_until_bound(&c, then, ARRAY_SIZE(then));
	CHECK(!is_bound(&c, "big"));
	cluster_done(&c);
}

/* Its exit status, or -1 if it was killed. */
static int play_and_die(const char *dir, struct mortal m)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		play(dir, m);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) || WTERMSIG(status) == SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static char *new_dir(void)
{
	char *dir = xasprintf("%s/crash-XXXXXX", test_dir());

	if (!mkdtemp(dir))
		abort();
	return dir;
}

TEST("a crash between any two writes of a pass leaves no partial gang, no card given twice and nobody lost")
{
	auto_free char *whole = new_dir();
	int points;

	log_set_level(LOG_ERROR);
	points = play_and_die(whole, (struct mortal){ 0 });
	check_rest(whole);
	/* Bindings of 6 pods, 2 evictions, at least the words to one pod, and as many Events. */
	CHECK(points >= 18);
	for (int n = 1; n <= points; n++) {
		auto_free char *before = new_dir(), *after = new_dir();

		play_and_die(before, (struct mortal){ .before = n });
		check_rest(before);
		play_and_die(after, (struct mortal){ .after = n });
		check_rest(after);
	}
}
