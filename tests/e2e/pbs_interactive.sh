#!/bin/bash
# qsub with jobs that run for real: waiting for one, and sitting at one.
. "$(dirname "$0")/lib.sh"
need_accounts
U=stki$$
H=$T/u
chmod 711 "$T"
useradd -M -d "$H" -s /bin/bash "$U"
trap 'cleanup; userdel "$U"' EXIT
mkdir "$H" && chown "$U:" "$H"
node_start main || exit 1
mkdir -m 755 "$T/bin"
cp "$STOKER" "$ROOT/build/stoker-pbs" "$ROOT/tests/lib/terminal.py" "$T/bin/"
ln -s stoker-pbs "$T/bin/qsub"
chmod 755 "$T/main"
chmod 666 "$SOCKET"
cd "$H" || exit 1
as_user() { setpriv --reuid="$U" --regid="$(id -g "$U")" --clear-groups env -u KUBECONFIG STOKER_SOCKET="$SOCKET" STOKER_TORQUE_CFG=/nonexistent HOME="$H" LOGNAME="$U" "$@"; }
# terminal [TEXT KEYS]... -- ARGS...: qsub on a terminal
terminal() { as_user timeout 300 /usr/bin/python3 -B "$T/bin/terminal.py" "$@"; }

cat >a.pbs <<'END'
#PBS -N testjob
#PBS -o $PBS_JOBID.out
echo "$PBS_JOBNAME in $PBS_O_WORKDIR"
exit 5
END
id=$(as_user "$T/bin/qsub" -W block=true a.pbs)
is "a job ran, and qsub ended as it did" $? 5
is "its output is in the file it named" "$(cat "$H/$id.out")" "testjob in $H"
echo "PS1='stoker> '" >"$H/.profile"
out=$(terminal 'stoker> ' $'echo in=$PBS_ENVIRONMENT at=$PWD $((6 * 7)); exit 4\n' -- "$T/bin/qsub" -I -l nodes=1)
is "a session ends well, whatever its shell says" $? 0
like "it is announced" "$out" '^qsub: waiting for job [0-9]+\.[^ ]+ to start$'
like "then there is a shell, and its prompt has not been missed" "$out" "^in=PBS_INTERACTIVE at=$H 42\$"
like "and its end is told" "$out" '^qsub: job [0-9]+\.[^ ]+ completed$'
printf '#!/bin/sh\necho "here $# $1 on $(tty)"; exit 3\n' >"$H/cmd" && chmod 755 "$H/cmd"
out=$(terminal -- "$T/bin/qsub" -I -x cmd one)
like "a script may be what is run at the terminal" "$out" '^here 1 one on /dev/'
out=$(terminal 'stoker> ' $'sleep 1000\n' -- "$T/bin/qsub" -I -l walltime=2)
like "who sits too long reads it" "$out" '^=>> PBS: job killed: walltime [0-9]+ exceeded limit 2'
out=$(terminal 'to start' ^C '? ' $'y\n' -- "$T/bin/qsub" -I -h)
is "who gives up while it waits is asked" "$? $(grep -c 'Do you wish to terminate' <<<"$out")" "1 1"
like "and the job goes" "$out" '^Job [0-9]+\.[^ ]+ is being deleted$'
all_done() { [ "$(api GET "/apis/stoker.dev/v1/namespaces/$U/pbsjobs" | field '[.items[].status.state]|unique')" = '["C"]' ]; }
ok "and no job is left" eventually 60 all_done
done_testing
