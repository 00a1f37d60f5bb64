#!/bin/bash
# `stoker image build`: from directories, repositories and archives, on images that are here, and without a trace.
. "$(dirname "$0")/lib.sh"
D=$T/data
mkdir -p "$D" "$T/one" "$T/two"
image() { "$STOKER" image "$@" --data "$D"; }
# top IMAGE FILE: text of a file in the topmost layer
top() { cat "$D/images/layers/$(image inspect "$1" | jq -r '.config.rootfs.diff_ids[-1]' | cut -d: -f2)/$2"; }
traces() { { grep "$T" /proc/mounts; ls /etc/cni /var/lib/cni /run/containers /var/lib/containers 2>&1; } | sort; }
before=$(traces)

cp "$(command -v busybox)" "$T/one/busybox"
cat >"$T/one/Dockerfile" <<-END
	FROM scratch AS tools
	COPY busybox /bin/busybox
	RUN ["/bin/busybox", "--install", "-s", "/bin"]
	FROM tools
	RUN echo made by \$(id -u) >/made
	FROM tools AS other
	RUN echo other >/other
	FROM tools
	ARG WHO=nobody
	RUN echo \$WHO >/who
	ENV A=b
	CMD ["/bin/sh"]
END
out=$(image build "$T/one" -t lab/one:1 -t one 2>"$T/log")
like "build prints id and name" "$out" '^sha256:[0-9a-f]{64} docker.io/lab/one:1$'
like "its steps are shown" "$(cat "$T/log")" '^STEP 2/5: ARG WHO=nobody|STEP .*ARG WHO'
is "it has both names" "$(image inspect lab/one:1 | jq -r '.names | length')" 2
is "its config is the Dockerfile's" "$(image inspect one | jq -rc '.config.config | .Cmd, .Env[-1]' | xargs)" '[/bin/sh] A=b'
is "a step has run" "$(top one who)" nobody
printf 'ARG TAG=9\nFROM lab/one:$TAG\nARG WHO\nRUN echo $WHO >/two\nCOPY --from=one /who /copy\n' >"$T/two/Containerfile"
ok "a base image that is here is not fetched, also by a name with variables" image build "$T/two" -t two --build-arg TAG=1 --build-arg WHO=me -q
is "and gets its arguments" "$(top two copy 2>/dev/null || true)$(image inspect two | jq '.config.rootfs.diff_ids | length')" "nobody5"
image build "$T/one" -t again 2>"$T/log" >/dev/null
like "a second build is made from the first" "$(cat "$T/log")" 'Using cache'
image build "$T/one" -t again --no-cache 2>"$T/log" >/dev/null
unlike "unless that is not wanted" "$(cat "$T/log")" 'Using cache'
ok "a stage can be the target" image build "$T/one" --target other -t other -q
is "and is the last that is built" "$(top other other)" other
like "without a name it has only its id" "$(cd "$T" && image build one --build-arg WHO=x -q)" '^sha256:[0-9a-f]{64} -$'

like "a directory without a Dockerfile says so" "$(image build "$T/home" -q 2>&1)" "there is no Dockerfile in $T/home; name it with -f"
like "one that is not there too" "$(image build "$T/nowhere" -q 2>&1)" 'nowhere: No such file'
printf 'FROM one\nRUN echo gone wrong >&2; exit 3\n' >"$T/bad"
like "a step that fails ends the build with its status" "$(image build "$T/two" -f "$T/bad" 2>&1)" 'gone wrong(.|\n)*exit status 3|exit status 3'
printf 'FROM host\n' >"$T/bad"
like "this machine is no base" "$(image build "$T/two" -f "$T/bad" -q 2>&1)" "file system cannot be a base"
printf 'FROM localhost:1/x\n' >"$T/bad"
like "a registry that is not there is named" "$(image build "$T/two" -f "$T/bad" -q 2>&1)" 'localhost:1.*connection refused'
like "a bad name is refused" "$(image build "$T/one" -t Bad -q 2>&1)" 'invalid reference format'
like "a missing buildah is named" "$(PATH=$T image build "$T/one" -q 2>&1)" 'buildah is not installed; it is needed here'

mkdir "$T/repo"
(cd "$T/repo" && git init -q -b main . && mkdir sub && printf 'FROM one\nCOPY f /f\n' >sub/Dockerfile && echo first >sub/f &&
	git add . && git -c user.name=t -c user.email=t@localhost commit -qm one && git tag v1 && echo second >sub/f &&
	git -c user.name=t -c user.email=t@localhost commit -qam two)
mv "$T/repo/.git" "$T/repo.git"
ok "a repository is built" image build "file://$T/repo.git#:sub" -t git -q
is "at its newest" "$(top git f)" second
ok "or at a tag" image build "file://$T/repo.git#v1:sub" -t git -q
is "as it was then" "$(top git f)" first
like "only below it" "$(image build "file://$T/repo.git#:../.." -t git -q 2>&1)" 'not a directory of the repository'
mkdir "$T/web" && tar -C "$T/repo/sub" -czf "$T/web/context.tar.gz" .
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$T/web" >"$T/web.log" 2>&1 &
PIDS+=($!)
eventually 60 grep -q 'port [0-9]' "$T/web.log"
port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$T/web.log" | head -n 1)
ok "an archive on the web is built" image build "http://127.0.0.1:$port/context.tar.gz" -t web -q
is "with its files" "$(top web f)" second
like "one that is not there says so" "$(image build "http://127.0.0.1:$port/no.tar" -q 2>&1)" '404'

printf 'FROM one\nRUN touch /started; sleep 987654\n' >"$T/bad"
"$STOKER" image build "$T/two" -f "$T/bad" --data "$D" >/dev/null 2>"$T/log" &
pid=$!
PIDS+=("$pid")
eventually 60 pgrep -f 'sleep 987654'
kill -INT "$pid"
wait "$pid"
is "Ctrl-C ends a build" "$?" 130
like "and says so" "$(tail -n 1 "$T/log")" 'interrupted'
none_left() { ! pgrep -f 'sleep 987654'; }
ok "with all its processes" eventually 60 none_left
is "and its files" "$(ls "$D/images/tmp" "$D/images/trash" | grep -vc '^/\|^$\|:$')" 0
as_before() { [ "$(traces)" = "$before" ]; } # others may build at the same time
ok "nothing is left on the machine" eventually 60 as_before
ok "prune --all throws the cache away too" image prune --all
is "all of it" "$(ls "$D/images" | grep -cx build)" 0
done_testing
