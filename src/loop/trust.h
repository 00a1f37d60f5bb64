// SPDX-License-Identifier: Apache-2.0
/* trust.h - whom a TLS server must prove to be, and who its client is */
#ifndef STOKER_LOOP_TRUST_H
#define STOKER_LOOP_TRUST_H

#include <stdbool.h>

/* PEM texts, or NULL. */
struct tls_trust {
	const char *host;               /* the server's name or address, which its certificate must have */
	const char *ca_pem;             /* who vouches for it; NULL: those that this machine trusts */
	const char *cert_pem, *key_pem; /* the client's own */
	bool insecure;                  /* nothing is verified */
};

#endif
