#!/bin/bash
# The server is killed again and again while several shells submit PBS jobs, arrays and jobs that wait for others: every
# job whose id was printed runs, once, and is in the accounts once.
. "$(dirname "$0")/lib.sh"

need_accounts
U=stks$$
H=$T/u
SHELLS=4
KILLS=5
BIN=${STOKER%/*}/bin
chmod 711 "$T"
useradd -M -d "$H" -s /bin/sh "$U"
trap 'cleanup; userdel "$U"' EXIT
mkdir "$H" && chown "$U:" "$H" && chmod 700 "$H"

# begin: the server, with more slots than the machine has processors.
begin() {
	node_start main --gpus 4 || return 1
	chmod 711 "$T/main"
	chmod 666 "$SOCKET"
}
begin || done_testing
kubectl annotate node --all stoker.dev/np=16 >/dev/null
# A storm is one user's; the jobs of all rounds are looked at afterwards.
cat >"$H/job.pbs" <<-END
	#PBS -N storm -j oe -o /dev/null
	echo "\$PBS_JOBID" >>$H/ran
END
# submit SHELL: until it is told to stop; what was acknowledged goes to a file of its own.
cat >"$H/submit.sh" <<-END
	n=0
	last=
	while [ ! -e $H/stop ]; do
		n=\$((n + 1))
		t=
		[ \$((n % 10)) = 0 ] && t='-t 1-3'
		[ \$((n % 4)) = 1 ] && [ -n "\$last" ] && t="-W depend=afterany:\$last"
		id=\$($BIN/qsub \$t $H/job.pbs 2>/dev/null) || sleep 0.05
		[ -z "\$id" ] || echo "\$id" >>$H/said.\$1
		case \$id in *[]]*) last= ;; *) last=\$id ;; esac
	done
END
chown "$U:" "$H"/*
export STOKER_SOCKET=$T/main/sock
SUBMITTERS=()
for ((s = 0; s < SHELLS; s++)); do
	(cd "$H" && exec setpriv --reuid="$U" --regid="$U" --init-groups sh submit.sh "$s") &
	SUBMITTERS+=($!)
	PIDS+=($!)
done

for ((k = 0; k < KILLS; k++)); do
	# At any moment: between 50 and 600 ms into its life.
	sleep "0.$(printf %03d $((50 + RANDOM % 550)))"
	kill -9 "$SERVER_PID"
	wait "$SERVER_PID" 2>/dev/null
	begin || done_testing
done
# On a slow machine the tenth job of a shell, an array, may still have to come.
eventually 60 grep -q '\[\]' "$H"/said.*
touch "$H/stop"
wait "${SUBMITTERS[@]}"

cat "$H"/said.* >"$T/said"
# A job, or the three elements of an array, "7[].host": "7[1].host" ...
awk -F'[][]' 'NF > 1 { for (i = 1; i <= 3; i++) print $1 "[" i "]" $3; next } { print }' "$T/said" | sort >"$T/due"
ok "jobs were acknowledged" test "$(wc -l <"$T/said")" -gt "$KILLS"
ok "arrays among them" grep -q '\[\]' "$T/said"
is "no id was given twice" "$(sort "$T/said" | uniq -d)" ""
count_open() { [ "$("$BIN/qstat" 2>/dev/null | awk '$5 ~ /^[QREHWS]$/' | wc -l)" -eq 0 ]; }
all_ran() { [ -z "$(sort -u "$H/ran" | comm -13 - "$T/due")" ]; }
ok "all of them run" eventually 60 all_ran
ok "to their end" eventually 60 count_open
is "none is lost" "$(sort -u "$H/ran" | comm -13 - "$T/due")" ""
is "none runs twice" "$(sort "$H/ran" | uniq -d)" ""
# A killed server may have stored what it could not acknowledge: one job for each shell and kill at most.
MORE=$(($(sort -u "$H/ran" | wc -l) - $(wc -l <"$T/due")))
ok "and hardly any that was not acknowledged ($MORE elements of $(wc -l <"$T/due"))" test "$MORE" -le $((3 * SHELLS * KILLS))

# "E 7[1].host": what the accounts say of each job and element.
accounts() { cat "$T"/main/data/accounting/pbs/* | awk -F';' '$2 ~ /^[QSE]$/ { print $2, $3 }' | sort; }
{
	sed 's/^/Q /' "$T/said"
	sed 's/^/S /' "$T/due"
	sed 's/^/E /' "$T/due"
} | sort >"$T/lines"
unwritten() { accounts | comm -13 - "$T/lines"; }
all_written() { [ -z "$(unwritten)" ]; }
eventually 30 all_written
is "the accounts tell of every job that it was queued, began and ended" "$(unwritten)" ""
is "and of none twice" "$(accounts | uniq -d)" ""
done_testing
