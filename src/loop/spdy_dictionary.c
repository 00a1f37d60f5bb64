// SPDX-License-Identifier: Apache-2.0
/* spdy_dictionary.c - the text both sides of SPDY/3 start their compression from
 *
 * A fact of the protocol, 1423 bytes with the Adler-32 checksum e3c6a7c2: header names as they stand in a block, each
 * behind its length in four bytes, then fragments of values.
 */
#include "loop/spdy.h"

#define WORD(length, text) "\0\0\0" length text

/* clang-format off */
const char spdy_dictionary[SPDY_DICTIONARY_LEN + 1] =
	WORD("\007", "options")
	WORD("\004", "head")
	WORD("\004", "post")
	WORD("\003", "put")
	WORD("\006", "delete")
	WORD("\005", "trace")
	WORD("\006", "accept")
	WORD("\016", "accept-charset")
	WORD("\017", "accept-encoding")
	WORD("\017", "accept-language")
	WORD("\015", "accept-ranges")
	WORD("\003", "age")
	WORD("\005", "allow")
	WORD("\015", "authorization")
	WORD("\015", "cache-control")
	WORD("\012", "connection")
	WORD("\014", "content-base")
	WORD("\020", "content-encoding")
	WORD("\020", "content-language")
	WORD("\016", "content-length")
	WORD("\020", "content-location")
	WORD("\013", "content-md5")
	WORD("\015", "content-range")
	WORD("\014", "content-type")
	WORD("\004", "date")
	WORD("\004", "etag")
	WORD("\006", "expect")
	WORD("\007", "expires")
	WORD("\004", "from")
	WORD("\004", "host")
	WORD("\010", "if-match")
	WORD("\021", "if-modified-since")
	WORD("\015", "if-none-match")
	WORD("\010", "if-range")
	WORD("\023", "if-unmodified-since")
	WORD("\015", "last-modified")
	WORD("\010", "location")
	WORD("\014", "max-forwards")
	WORD("\006", "pragma")
	WORD("\022", "proxy-authenticate")
	WORD("\023", "proxy-authorization")
	WORD("\005", "range")
	WORD("\007", "referer")
	WORD("\013", "retry-after")
	WORD("\006", "server")
	WORD("\002", "te")
	WORD("\007", "trailer")
	WORD("\021", "transfer-encoding")
	WORD("\007", "upgrade")
	WORD("\012", "user-agent")
	WORD("\004", "vary")
	WORD("\003", "via")
	WORD("\007", "warning")
	WORD("\020", "www-authenticate")
	WORD("\006", "method")
	WORD("\003", "get")
	WORD("\006", "status")
	WORD("\006", "200 OK")
	WORD("\007", "version")
	WORD("\010", "HTTP/1.1")
	WORD("\003", "url")
	WORD("\006", "public")
	WORD("\012", "set-cookie")
	WORD("\012", "keep-alive")
	WORD("\006", "origin")
	"100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
	"203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Una"
	"uthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service"
	" UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, "
	"Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,applicat"
	"ion/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf"
	"-8charset=iso-8859-1,utf-,*,enq=0.";
/* clang-format on */
