#!/bin/bash
# The server's disk fills while PBS jobs are submitted and run: who is refused is told so, whoever has an id keeps it,
# and when there is room again all goes on by itself.  Then the disk of a job's output fills.
. "$(dirname "$0")/lib.sh"

need_accounts
lab_user "stkf$$"
BIN=${STOKER%/*}/bin

# small_disk DIR MEGABYTES
small_disk() {
	mkdir -p "$1"
	ok "a small file system can be mounted" mount -t tmpfs -o "size=$2m" stoker-e2e "$1"
	MOUNTS+=("$1")
}
# fill DIR: every last byte, as a runaway log would.
fill() {
	dd if=/dev/zero of="$1/filler" bs=64k oflag=append conv=notrunc >/dev/null 2>&1
	dd if=/dev/zero of="$1/filler" bs=512 oflag=append conv=notrunc >/dev/null 2>&1
	[ "$(df --output=avail "$1" | tail -n 1)" -eq 0 ]
}
as_user() { (cd "$H" && exec setpriv --reuid="$U" --regid="$U" --init-groups "$@"); }
state() { "$BIN/qstat" "$1" 2>/dev/null | awk 'NR == 3 { print $5 }'; }
is_state() { [ "$(state "$1")" = "$2" ]; }

small_disk "$T/main/data" 32
chmod 711 "$T/main"
node_start main || done_testing
chmod 666 "$SOCKET"
export STOKER_SOCKET=$SOCKET
kubectl annotate node --all stoker.dev/np=64 >/dev/null

cat >"$H/long.pbs" <<-END
	#PBS -N long -j oe
	echo begun
	while [ ! -e $H/go ]; do sleep 0.1; done
	echo \$PBS_JOBID >>$H/ran
	echo ended
END
# A script that takes some room, so that the disk is soon full of them.
{
	echo "#PBS -N short -j oe -o /dev/null"
	echo "echo \$PBS_JOBID >>$H/ran"
	seq -f "# %050g" 300
} >"$H/short.pbs"
chown "$U:" "$H"/*.pbs

LONG=$(as_user "$BIN/qsub" long.pbs)
echo "$LONG" >"$T/said"
ok "a job runs before the disk is full" eventually 60 is_state "$LONG" R

# Several shells submit until they are refused; the disk fills meanwhile.
cat >"$H/submit.sh" <<-END
	while :; do
		$BIN/qsub -h short.pbs >>said.\$1 2>refusal.\$1 && continue
		echo "exit status \$?" >>refusal.\$1
		break
	done
END
SUBMITTERS=()
for ((i = 0; i < 3; i++)); do
	as_user sh submit.sh "$i" &
	SUBMITTERS+=($!)
	PIDS+=($!)
done
some_said() { [ "$(cat "$H"/said.* 2>/dev/null | wc -l)" -ge 5 ]; }
ok "jobs are submitted" eventually 60 some_said
fill "$T/main/data"
wait "${SUBMITTERS[@]}"
cat "$H"/said.* >>"$T/said"
is "each shell is refused" "$(cat "$H"/refusal.* | grep -c '^qsub: .*disk is full: free space')" 3
is "by an exit status too" "$(cat "$H"/refusal.* | grep -c '^exit status [1-9]')" 3
fill "$T/main/data"
as_user "$BIN/qsub" -t 1-3 short.pbs >"$T/id" 2>"$T/refusal"
like "so is an array" "$? $(cat "$T/id" "$T/refusal")" '^[1-9][0-9]* qsub: .*disk is full'
ids() { "$BIN/qselect" | sort; }
is "whoever has an id is there, and nobody else" "$(ids)" "$(sort "$T/said")"
touch "$H/go"
ok "a running job goes on to its end" eventually 30 grep -q "$LONG" "$H/ran"
out_ended() { grep -q ended "$H"/long.o*; }
ok "and its output is in its file" eventually 30 out_ended

rm "$T/main/data/filler"
qsub_works() { as_user "$BIN/qsub" short.pbs >>"$T/said" 2>/dev/null; }
ok "with room again qsub works by itself" eventually 60 qsub_works
ok "and the job that ended meanwhile is done" eventually 60 is_state "$LONG" C
is "those that were held are let go" "$(as_user "$BIN/qrls" $(cat "$H"/said.*) 2>&1)" ""
all_ran() { [ "$(sort -u "$H/ran" | comm -13 - <(sort "$T/said"))" = "" ]; }
ok "all that were acknowledged run" eventually 60 all_ran
is "once, and none besides" "$(sort "$H/ran")" "$(sort "$T/said")"

small_disk "$T/out" 1
chown "$U:" "$T/out"
fill "$T/out"
cat >"$H/loud.pbs" <<-END
	#PBS -N loud -j oe -o $T/out/loud
	seq 20000
	echo after >$H/after
	exit 7
END
chown "$U:" "$H/loud.pbs"
LOUD=$(as_user "$BIN/qsub" loud.pbs)
ok "a job whose output has no room goes on to its end" eventually 60 is_state "$LOUD" C
like "by its own exit status" "$("$BIN/qstat" -f "$LOUD")" 'exit_status = 7'
ok "having done what it does" test -s "$H/after"
is "the file has no more than fits" "$(stat -c %s "$T/out/loud")" 0
is "the log has all of it" "$(as_user "$STOKER" logs --socket "$SOCKET" "pbsjob/${LOUD%%.*}" | tail -n 1)" 20000
done_testing
