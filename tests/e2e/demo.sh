#!/bin/bash
# `make demo`, what a newcomer sees first: it ends with a trained model, and leaves nothing behind, also when it is
# interrupted.
. "$(dirname "$0")/lib.sh"

# demo NAME: in the background, with a place of its own for its directory.  Ctrl-C is for it, although it has no terminal.
demo() {
	mkdir "$T/$1"
	TMPDIR=$T/$1 env --default-signal=INT "$ROOT/tools/demo" >"$T/$1.out" 2>&1 </dev/null &
	DEMO=$!
	PIDS+=($DEMO)
}
# Where its server keeps its data.
lab() { echo "$T/$1"/stoker-demo.*/lab; }
has_begun() { [ -d "$(lab "$1")" ]; }
has_said() { grep -q -- "$2" "$T/$1.out"; }
# left NAME DATA: everything on the machine that carries its name.
left() {
	local p
	p=$(printf %s "$2" | sha256sum | cut -c 1-8)
	ls "$T/$1"
	grep -F " $T/$1/" /proc/self/mountinfo
	grep -lsz -e "$T/$1/[s]toker-demo" /proc/[0-9]*/cmdline /proc/[0-9]*/environ
	ls -d /sys/fs/cgroup/stoker-"$p"* /sys/fs/cgroup/*/stoker-"$p"* 2>/dev/null
	nft list tables 2>/dev/null | grep "$p"
	ip -o link | grep -E "(s|stk)$p"
}

demo whole
WHOLE=$DEMO
demo cut
CUT=$DEMO
for name in whole cut; do
	ok "$name: it has a directory" eventually 60 has_begun $name
	NODES+=("$(lab $name)")
done
whole=$(realpath "$(lab whole)")
cut=$(realpath "$(lab cut)")
ok "there are pods when it is interrupted" eventually 120 has_said cut '^pod/psgd-worker-1 .*Running'
like "of which there is something on the machine" "$(left cut "$cut")" "stoker-$(printf %s "$cut" | sha256sum | cut -c 1-8)"
kill -INT $CUT
wait $CUT
is "an interrupted demo says so" $? 130
is "and leaves nothing" "$(left cut "$cut")" ""
wait $WHOLE
is "a whole one succeeds" "$? $(grep '^demo:' "$T/whole.out")" "0 "
like "its model is good" "$(cat "$T/whole.out")" '^# Trained: accuracy 0\.8[0-9]+, [0-9.]+ s from `kubectl apply` to the end, with a killed server'
is "its server was killed once" "$(grep -c '^\$ kill -9' "$T/whole.out") $(grep -c '^stoker: ready' "$T/whole.out")" "1 2"
like "its loss is drawn" "$(cat "$T/whole.out")" 'stoker plot psgd'
is "and it leaves nothing" "$(left whole "$whole")" ""
done_testing
