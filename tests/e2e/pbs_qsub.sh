#!/bin/bash
# qsub against an API server: what it prints, how it ends, what it submits.  As an ordinary user, for root may not submit.
. "$(dirname "$0")/lib.sh"
server_start main || exit 1

U=65534
me=$(getent passwd $U | cut -d: -f1)
mkdir -m 755 "$T/bin"
cp "$STOKER" "$T/bin/stoker"
cp "${STOKER_PBS:-$ROOT/build/stoker-pbs}" "$T/bin/qsub"
ln -s qsub "$T/bin/sqsub"
mkdir -m 777 "$T/work" "$T/work/logs"
chmod 755 "$T" "$T/main"
chmod 666 "$SOCKET"
cd "$T/work" || exit 1
as_user() { setpriv --reuid=$U --regid="$(id -g "$me")" --clear-groups env -u KUBECONFIG STOKER_SOCKET="$SOCKET" STOKER_TORQUE_CFG="$T/torque.cfg" HOME="$T/work" "$@"; }
qsub() { as_user "$T/bin/qsub" "$@"; }
# said ARGS...: what goes to standard error, and the exit status
said() {
	qsub "$@" 2>&1 >/dev/null </dev/null
	echo "exit $?"
}
jobs=/apis/stoker.dev/v1/namespaces/$me/pbsjobs
spec() { api GET "$jobs/${1%%[.\[]*}" | field ".spec|$2"; }

# ---- a job ----
cat >a.pbs <<'END'
# a.pbs   # 说明
#PBS    -N  testjob   # 任务名, it's a comment
#PBS -o $PBS_JOBID.out
#PBS -l nodes=1:ppn=2
#PBS -l walltime=600:00:00 \
  -m abef
  #PBS -r n
echo Time is `date`
#PBS -N late
printf '%s' "no end of line"
END
truncate -s -1 a.pbs
id=$(qsub a.pbs)
like "a job's id is printed" "$id" '^[0-9]+\.[A-Za-z0-9._-]+$'
is "its directives count" "$(spec "$id" '[.name,.resources.nodes,.resources.walltime,.mail.points,.rerunnable]')" '["testjob","1:ppn=2","600:00:00","abef",false]'
like "its output is named from here" "$(spec "$id" .outputPath)" "^[^:]+:$T/work/\\\$PBS_JOBID.out\$"
is "its script is kept as it was, continued directives joined" "$(spec "$id" .script)" "$(sed '/\\$/{N;s/\\\n//}' a.pbs)"
is "it knows where it comes from" "$(spec "$id" '.env.PBS_O_WORKDIR') $(spec "$id" '.env.PBS_O_HOME')" "$T/work $T/work"
id=$(qsub a.pbs -N cli -l walltime=1:00:00 -q batch -t 0-9%5 -o logs)
like "an array's id has brackets" "$id" '^[0-9]+\[\]\.'
is "options behind the script are stronger" "$(spec "$id" '[.name,.resources.nodes,.resources.walltime,.array.request,.array.slots]')" '["cli","1:ppn=2","01:00:00","0-9",5]'
like "a directory stays one" "$(spec "$id" .outputPath)" ":$T/work/logs/\$"
id=$(echo 'echo hi' | qsub)
is "standard input is a job too" "$(spec "$id" .name) $(spec "$id" .script)" "STDIN echo hi"
is "-z prints nothing" "$(qsub -z a.pbs)" ""
id=$(qsub -- /bin/echo 'a b' -c)
is "a command needs no script" "$(spec "$id" .command) $(spec "$id" .name)" '["/bin/echo","a b","-c"] echo'
id=$(as_user env MULTI=$'one\ntwo,three' "$T/bin/qsub" -V -v 'A=1,B="x,y",MULTI2' a.pbs)
is "variables arrive whole" "$(spec "$id" '.env|[.MULTI,.A,.B,.MULTI2]')" '["one\ntwo,three","1","x,y",""]'
first=$(qsub -h a.pbs)
id=$(qsub -W "depend=afterok:$first" a.pbs)
is "what was printed can be waited for" "$(spec "$id" '.dependencies[0].jobs[0]')" "$first"
is "a held job is held" "$(api GET "$jobs/${first%%.*}" | field .status.state)" H
printf '#PBS -N one\n#X -N two\n#Y -N three\necho\n' >d.pbs
named() { spec "$("$@")" .name; }
is "the environment names another prefix, a word of the command line yet another, or none" \
	"$(named qsub d.pbs) $(PBS_DPREFIX=#X named qsub d.pbs) $(PBS_DPREFIX=#X named qsub -C '#Y' d.pbs) $(named qsub -C '' d.pbs)" \
	"one two three d.pbs"
like "another name works" "$(as_user "$T/bin/sqsub" a.pbs)" '^[0-9]+\.'
like "as a command of stoker too" "$(as_user "$T/bin/stoker" qsub a.pbs)" '^[0-9]+\.'

# ---- refusals, as scripts know them ----
is "root may not" "$(STOKER_SOCKET=$SOCKET "$T/bin/qsub" a.pbs 2>&1; echo $?)" "qsub can not be run as root
1"
is "a missing script" "$(said nope)" "qsub: script file 'nope' cannot be loaded - No such file or directory
exit 1"
is "a directory" "$(said logs)" "qsub: script not a file
exit 1"
printf '#PBS -N x\r\necho\r\n' >dos.pbs
is "DOS's ends of lines" "$(said dos.pbs)" "qsub:  script is written in DOS/Windows text format
exit 1"
is "no text" "$(said /bin/true)" "qsub:  file must be an ascii script
exit 1"
like "a quote that does not end" "$(printf '#PBS -N "x\n' | qsub 2>&1)" '^qsub: directive error: unmatched "'
like "an option that is none" "$(said -Q a.pbs | tr '\n' '|')" '^\[qsub: invalid option -Q\]\|\|usage: qsub .*\|exit 2\|$'
like "a value that is none" "$(said -l nodes=1:gpus=0:S a.pbs | tr '\n' '|')" '^\[qsub: illegal -l value\]\|qsub: nodes=1:gpus=0:S: .*\|\|usage: .*\|exit 2\|$'
printf '#!/bin/sh\n#PBS -N x\n#PBS -Y 1\n' >wrong.pbs
like "one in a script, by its line" "$(said wrong.pbs | tr '\n' '|')" '^\[qsub: invalid option -Y\]\|qsub: line 3 of the script\|\|usage: .*\|exit 2\|$'
printf '#PBS -l nodes=1:gpus=0\n' >wrong.pbs
like "a value too" "$(said wrong.pbs | tr '\n' '|')" '^\[qsub: illegal -l value\]\|qsub: line 1 of the script: nodes=1:gpus=0: .*\|\|usage: .*\|exit 2\|$'
like "two scripts" "$(said a.pbs a.pbs | tr '\n' '|')" '^usage: qsub .*\|exit 2\|$'
like "-- without a command" "$(said -- | tr '\n' '|')" '^usage: .*\|exit 2\|$'
is "a destination" "$(said -q a@ a.pbs)" "qsub: illegally formed destination: a@
exit 2"
is "variables" "$(said -v =1 a.pbs)" "invalid -v syntax
exit 3"
is "what does not go together" "$(said -l nodes=2 -l ncpus=2 a.pbs)" "qsub: Jobs may not mix -l nodes with -l size or -l ncpus
exit 4"
like "an unknown resource" "$(said -l colour=red a.pbs | tr '\n' '|')" '^qsub: submit error \(Unknown resource type  MSG=detected request for an unknown resource.*\)\|exit 189\|$'
like "a bad array" "$(said -t 5-3 a.pbs | tr '\n' '|')" '^qsub: submit error \(Bad Job Array Request.*\)\|exit 235\|$'
is "a queue that is not there" "$(said -q nope a.pbs)" "qsub: submit error (Unknown queue MSG=requested queue not found)
exit 172"
like "a job that never was" "$(said -W depend=afterok:99999 a.pbs | tr '\n' '|')" '^qsub: submit error \(Invalid Job Dependency.*\)\|exit 208\|$'
is "no terminal" "$(said -I)" "$(printf 'qsub:\tstandard input and output must be a terminal for \n\tinteractive job submission\nexit 1')"
is "no server" "$(STOKER_SOCKET=/nonexistent STOKER_PBS_ROOT=1 "$T/bin/qsub" a.pbs 2>&1; echo $?)" "qsub: cannot connect to server /nonexistent (errno=2) No such file or directory; is the server running?
2"
like "a server elsewhere is asked through stoker" "$(STOKER_PBS_ROOT=1 "$T/bin/qsub" a.pbs 2>&1)" '^qsub: submit error \(Bad UID for job execution'
like "--version says what MPIs look for" "$(qsub --version 2>&1 | tr '\n' '|')" '^Version: 6\.[0-9.]+\|Commit: .*\|$'
like "--help names every option" "$(qsub --help)" '-l RESOURCES'
unlike "no library that only a server needs is loaded" "$(ldd "$T/bin/qsub")" 'crypto|curl|event|sqlite'

# ---- a site's filter ----
echo "SUBMITFILTER $T/bin/filter" >"$T/torque.cfg"
cat >"$T/bin/filter" <<'END'
#!/bin/sh
case " $* " in *" -A bad "*) echo "no account" >&2; exit 255 ;; esac
echo '#PBS -A filtered'
cat
END
chmod 755 "$T/bin/filter"
id=$(qsub a.pbs)
is "a filter's directives count" "$(spec "$id" .account) $(spec "$id" .name)" "filtered testjob"
is "it may refuse" "$(said a.pbs -A bad)" "no account
qsub: Your job has been administratively rejected by the queueing system.
qsub: There may be a more detailed explanation prior to this notice.
exit 1"
yes '# a long comment that the filter passes on' | head -c 1000000 >big.pbs
id=$(qsub big.pbs)
is "a large script goes through it" "$(spec "$id" '.script|length')" 1000018
rm "$T/torque.cfg"

# ---- waiting for the end ----
end_job() {
	local n
	for ((n = 0; n < 1200; n++)); do [ -s "$T/block" ] && break; sleep 0.05; done
	api PATCH "$jobs/$(cut -d. -f1 "$T/block")$1" -H 'Content-Type: application/merge-patch+json' -d "$2" -o /dev/null
}
qsub -h -W block=true a.pbs >"$T/block" & # held, so that nothing but this test ends it
WAITER=$!
end_job /status '{"status":{"state":"C","exitStatus":7,"startCount":1}}'
wait $WAITER
is "with -W block=true it ends as the job does" $? 7
: >"$T/block"
qsub -h -W block=true a.pbs >"$T/block" &
WAITER=$!
for ((n = 0; n < 1200; n++)); do [ -s "$T/block" ] && break; sleep 0.05; done
api DELETE "$jobs/$(cut -d. -f1 "$T/block")" -o /dev/null
wait $WAITER
is "and with 3 if it was deleted before it ran" $? 3
done_testing
