#!/bin/bash
# make install: what lands where, and the PBS commands under other names.
. "$(dirname "$0")/lib.sh"

BUILT=$(cd "$(dirname "$STOKER")" && pwd)
names=$(ls "$BUILT/bin")
# A build of its own with the programs of this one: it is configured, not compiled.
meson setup "$T/build" "$ROOT" --prefix /usr/local >"$T/setup" 2>&1 || { cat "$T/setup"; ok "meson makes a build" false; done_testing; }
cp "$BUILT/stoker" "$BUILT/stoker-pbs" "$BUILT/psgd" "$BUILT/stoker.bash" "$T/build/"

# put DIRECTORY [VARIABLE=VALUE...]: installs there.
put() {
	local dir=$T/$1
	shift
	ok "make install $*" make -C "$ROOT" -o all install BUILD="$T/build" DESTDIR="$dir" "$@"
}
# found DIRECTORY PLACE PREFIX SUFFIX: names of PBS commands that are there and not empty, without prefix and suffix.
found() {
	local name
	for name in $names; do [ -s "$T/$1/usr/local/$2/$3$name$4" ] && echo "$name"; done
}
# said DIRECTORY PREFIX: the places whose names are not as they should be.
said() {
	local where
	for where in "bin/ " "share/man/man1/ .1" "share/bash-completion/completions/ "; do
		[ "$(found "$1" "${where% *}" "$2" "${where#* }")" = "$names" ] || echo "${where% *}: $(ls "$T/$1/usr/local/${where% *}")"
	done
}

put plain
is "without a prefix commands, pages and completions have PBS's names" "$(said plain "")" ""
is "stoker is there too" "$(cd "$T/plain/usr/local" && ls bin/stoker bin/stoker-pbs share/man/man1/stoker.1)" "bin/stoker
bin/stoker-pbs
share/man/man1/stoker.1"
like "a command that was installed runs" "$("$T/plain/usr/local/bin/qsub" --version 2>&1)" '^Version: '
unit=$T/plain/usr/local/lib/systemd/system/stoker.service
is "systemd is told to start the program that was installed" "$(sed -n 's/^ExecStart=//p' "$unit")" '/usr/local/bin/stoker serve $STOKER_OPTIONS'
is "and to leave jobs alone when it stops" "$(sed -n 's/^KillMode=//p' "$unit")" process
is "and to wait until it can be asked" "$(sed -n 's/^Type=//p' "$unit")" notify
# As systemd does: what was said before the first answer.
cat >"$T/manager" <<-'END'
	import os, socket, subprocess, sys
	s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	s.bind(sys.argv[1])
	p = subprocess.Popen(sys.argv[2:], env=dict(os.environ, NOTIFY_SOCKET=sys.argv[1]), stdout=subprocess.PIPE)
	s.settimeout(60)
	try:
	    print(s.recv(99).decode())
	finally:
	    p.terminate()
	print(p.stdout.read().decode()[:13], p.wait())
END
is "it says when" "$(/usr/bin/python3 "$T/manager" "$T/notify" "$STOKER" serve --no-node --data "$T/told" --listen 127.0.0.1:0 --socket "$T/told.sock" 2>&1)" "READY=1
stoker: ready 0"
if command -v systemd-analyze >"$T/analyze"; then
	# It looks for the program, which is not at its place here.
	mkdir "$T/unit"
	sed "s|=/usr/local|=$T/plain/usr/local|" "$unit" >"$T/unit/stoker.service"
	is "systemd finds nothing wrong with the unit" "$(SYSTEMD_UNIT_PATH="$T/unit:" systemd-analyze verify --man=no "$T/unit/stoker.service" 2>&1 | grep -F stoker)" ""
fi

put other PBS_PREFIX=s PREFIX=/usr/local
is "with a prefix they all have it" "$(said other s)" ""
is "and none has PBS's name" "$(cd "$T/other/usr/local" && ls bin share/man/man1 share/bash-completion/completions | sed 's/\.1$//' | grep -xF "$names")" ""
like "such a command runs" "$("$T/other/usr/local/bin/sqsub" --version 2>&1)" '^Version: '
is "a page that is another's finds it" "$(cd "$T/other/usr/local/share/man" && for f in $(sed -n 's/^\.so //p' man1/*); do [ -s "$f" ] || echo "$f"; done)" ""
page=$(mandoc -T ascii "$T/other/usr/local/share/man/man1/sqdel.1" | sed 's/.\x08//g')
like "a page speaks of the command by its name" "$page" '^ +sqdel .* '
unlike "and only so" "$(sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' <<<"$page")" '(^| )qdel'
like "completion asks the commands by their names" "$(cat "$T/other/usr/local/share/bash-completion/completions/sqdel")" 'words=\$\(sqselect '
like "and is for them" "$(bash -c ". $T/other/usr/local/share/bash-completion/completions/sqdel; complete -p sqdel")" '_stoker_pbs sqdel$'

put again
is "who installs again keeps the prefix" "$(said again s)" ""
put back PBS_PREFIX=
is "until it is taken away" "$(said back "")" ""
done_testing
