// SPDX-License-Identifier: Apache-2.0
/* pki.c - the server's own CA and what it signs, in DIR/pki
 *
 * Opening makes what is missing and renews what ends soon; a CA is never replaced, because every kubeconfig out there
 * trusts it.  A key is written before its certificate, so a crash between the two leaves a key without a certificate,
 * which the next start completes.
 */
#include <errno.h>
#include <openssl/ec.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "loop/pki_internal.h"
#include "loop/secret_file.h"

#define CA_DAYS   3650
#define LEAF_DAYS 365
#define PEM_MAX   65536

static const char *const usual_sans[] = {
	"localhost",
	"127.0.0.1",
	"::1",
	"kubernetes",
	"kubernetes.default",
	"kubernetes.default.svc",
	"kubernetes.default.svc.cluster.local",
	"10.96.0.1", /* default/kubernetes, where pods find the API */
	NULL,
};

static char *pki_path(const struct pki *p, const char *name, const char *suffix)
{
	return xasprintf("%s/%s%s", p->dir, name, suffix);
}

/* A file's text, or NULL in *ret_text if there is none. */
static int read_pem(const char *path, bool secret, char **ret_text, struct err *e)
{
	struct err why = ERR_INIT;
	auto_sbuf struct sbuf b = SBUF(PEM_MAX);

	if (secret_file_read(path, secret, &b, &why) == 0) {
		*ret_text = sbuf_steal(&b);
		return 0;
	}
	if (why.kind == ERR_NOT_FOUND) {
		*ret_text = NULL;
		return 0;
	}
	*e = why;
	return -1;
}

static int damaged(const char *path, struct err *e)
{
	return err_set(e, ERR_CORRUPT,
		       "%s is not a PEM file of the expected kind: restore it from a copy, or remove it", path);
}

static int load_key(const struct pki *p, const char *name, EVP_PKEY **ret_key, char **ret_pem, struct err *e)
{
	auto_free char *path = pki_path(p, name, ".key");
	auto_free char *pem = NULL;

	if (read_pem(path, true, &pem, e) < 0)
		return -1;
	if (!pem)
		return 0;
	*ret_key = cert_key_from_pem(str_of(pem));
	if (!*ret_key || !EVP_PKEY_is_a(*ret_key, "EC"))
		return damaged(path, e);
	*ret_pem = TAKE(pem);
	return 0;
}

static int make_key(const struct pki *p, const char *name, EVP_PKEY **ret_key, char **ret_pem, struct err *e)
{
	auto_free char *path = pki_path(p, name, ".key");

	*ret_key = cert_new_key();
	*ret_pem = cert_key_to_pem(*ret_key);
	return secret_file_write(path, true, str_of(*ret_pem), e);
}

static int load_cert(const struct pki *p, const char *name, struct identity_pair *pair, struct err *e)
{
	auto_free char *path = pki_path(p, name, ".crt");

	if (read_pem(path, false, &pair->cert_pem, e) < 0)
		return -1;
	if (!pair->cert_pem)
		return 0;
	pair->cert = cert_from_pem(str_of(pair->cert_pem));
	return pair->cert ? 0 : damaged(path, e);
}

static int make_cert(const struct pki *p, const char *name, struct identity_pair *pair, const struct cert_spec *spec,
		     const struct identity_pair *issuer, struct err *e)
{
	auto_free char *path = pki_path(p, name, ".crt");

	X509_free(pair->cert);
	free(pair->cert_pem);
	pair->cert = cert_new(spec, pair->key, issuer);
	pair->cert_pem = cert_to_pem(pair->cert);
	return secret_file_write(path, false, str_of(pair->cert_pem), e);
}

static int open_ca(struct pki *p, struct err *e)
{
	const struct cert_spec spec = { .common_name = "stoker-ca", .ca = true, .days = CA_DAYS };
	struct identity_pair *ca = &p->ca;

	if (load_key(p, "ca", &ca->key, &ca->key_pem, e) < 0 || load_cert(p, "ca", ca, e) < 0)
		return -1;
	if (ca->cert && !ca->key)
		return err_set(e, ERR_CORRUPT,
			       "%s/ca.key is missing: restore it from a copy, or remove ca.crt to start a new CA that "
			       "no existing kubeconfig will trust",
			       p->dir);
	if (ca->cert && X509_check_private_key(ca->cert, ca->key) != 1)
		return err_set(e, ERR_CORRUPT, "%s/ca.key and ca.crt do not belong together: restore both from a copy",
			       p->dir);
	if (!ca->key && make_key(p, "ca", &ca->key, &ca->key_pem, e) < 0)
		return -1;
	return ca->cert ? 0 : make_cert(p, "ca", ca, &spec, NULL, e);
}

static int open_leaf(struct pki *p, const char *name, struct identity_pair *pair, const struct cert_spec *spec,
		     struct err *e)
{
	if (load_key(p, name, &pair->key, &pair->key_pem, e) < 0 || load_cert(p, name, pair, e) < 0)
		return -1;
	if (!pair->key && make_key(p, name, &pair->key, &pair->key_pem, e) < 0)
		return -1;
	if (pair->cert && cert_is_good(pair->cert, pair->key, &p->ca, spec))
		return 0;
	return make_cert(p, name, pair, spec, &p->ca, e);
}

static int open_server(struct pki *p, const char *const *extra_sans, struct err *e)
{
	char host[256] = "";
	const char *const own[] = { host, NULL };
	const char *const none[] = { NULL };
	/* The host name is left out when it cannot be a DNS name. */
	const bool named = gethostname(host, sizeof(host) - 1) == 0 && host[0] && !strchr(host, ' ');
	const char *const *const sans[] = { usual_sans, named ? own : none, extra_sans ? extra_sans : none, NULL };
	const struct cert_spec spec = {
		.common_name = "stoker", .extended_use = "serverAuth", .sans = sans, .days = LEAF_DAYS
	};

	return open_leaf(p, "server", &p->server, &spec, e);
}

static int open_sa_key(struct pki *p, struct err *e)
{
	auto_free char *pem = NULL;

	if (load_key(p, "sa", &p->sa_key, &pem, e) < 0)
		return -1;
	if (!p->sa_key && make_key(p, "sa", &p->sa_key, &pem, e) < 0)
		return -1;
	pki_jwt_init(p);
	return 0;
}

static int make_dir(const char *path, struct err *e)
{
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_errno(e, ERR_INTERNAL, "cannot create %s", path);
	if (stat(path, &st) < 0 || ((st.st_mode & 077) && chmod(path, 0700) < 0))
		return err_errno(e, ERR_INTERNAL, "cannot make %s private", path);
	return 0;
}

int pki_open(const char *dir, const char *const *extra_sans, struct pki **ret, struct err *e)
{
	const struct cert_spec admin = { .common_name = "admin",
					 .organization = "system:masters",
					 .extended_use = "clientAuth",
					 .days = LEAF_DAYS };
	struct pki *p = xcalloc(1, sizeof(*p));

	p->dir = xasprintf("%s/pki", dir);
	if (make_dir(p->dir, e) < 0 || open_ca(p, e) < 0 || open_server(p, extra_sans, e) < 0 ||
	    open_leaf(p, "admin", &p->admin, &admin, e) < 0 || open_sa_key(p, e) < 0) {
		pki_free(p);
		return -1;
	}
	*ret = p;
	return 0;
}

static void pair_done(struct identity_pair *pair)
{
	EVP_PKEY_free(pair->key);
	X509_free(pair->cert);
	if (pair->key_pem)
		mem_wipe(pair->key_pem, strlen(pair->key_pem));
	free(pair->key_pem);
	free(pair->cert_pem);
}

void pki_free(struct pki *p)
{
	if (!p)
		return;
	pair_done(&p->ca);
	pair_done(&p->server);
	pair_done(&p->admin);
	EVP_PKEY_free(p->sa_key);
	free(p->jwt_header);
	free(p->dir);
	free(p);
}

struct str pki_ca_pem(const struct pki *p)
{
	return str_of(p->ca.cert_pem);
}

struct str pki_admin_cert_pem(const struct pki *p)
{
	return str_of(p->admin.cert_pem);
}

struct str pki_admin_key_pem(const struct pki *p)
{
	return str_of(p->admin.key_pem);
}
