#!/bin/bash
# The life of PBS jobs as objects: states, holds, dependencies, arrays, rerun, deletion.  Containers are timers here.
. "$(dirname "$0")/lib.sh"
node_start main --runtime fake
export PATH=$(dirname "$STOKER")/bin:$PATH STOKER_SOCKET=$SOCKET
DATA=$T/main/data
NODE=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
CPUS=$(kubectl get nodes -o 'jsonpath={.items[0].status.allocatable.cpu}')

# job NAME SPEC [SECONDS EXIT]: without them it runs for ever.
job() {
	local fake=
	[ -n "${3:-}" ] && fake="\"stoker.dev/fake-seconds\":\"$3\",\"stoker.dev/fake-exit-code\":\"${4:-0}\""
	kubectl create -f - >/dev/null <<-END
		{"apiVersion":"stoker.dev/v1","kind":"PBSJob","metadata":{"name":"$1","annotations":{$fake}},
		 "spec":{"owner":"nobody","script":"true","name":"n$1","killDelaySeconds":0${2:+,$2}}}
	END
}
field() { kubectl get pbsjob "$1" -o "jsonpath={.status.$2}" 2>/dev/null; }
id() { field "$1" sequence; }
alter() { kubectl patch pbsjob "$1" --type merge -p "{\"spec\":{$2}}" >/dev/null; }
# until_true COMMAND...: waits for it.
until_true() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	return 1
}
is_in() { case $(field "$1" state) in [$2]) return 0 ;; *) return 1 ;; esac }
# state NAME LETTERS: waits until it is one of them.
state() { until_true is_in "$1" "$2" || { kubectl get pbsjob "$1" -o yaml && false; }; }
same() { [ "$(field "$1" "$2")" = "$3" ]; }
pods() { kubectl get pods -l "stoker.dev/pbsjob=$1" -o 'jsonpath={.items[*].metadata.name}'; }
pods_are() { [ "$(pods "$1")" = "$2" ]; }
gone() { ! kubectl get pbsjob "$1"; }
elements() { kubectl get pbsjob "$1" -o 'jsonpath={.status.elements}'; }

# What has ended is asked about at the end, which may be later than five minutes.
kubectl patch pbsserver default --type merge -p '{"spec":{"keepCompletedSeconds":86400}}' >/dev/null

# One job.
job a '"resources":{"nodes":"1:ppn=2"}' 0.3 3
ok "it completes" state a C
is "with its script's status" "$(field a exitStatus)" 3
is "it had two slots" "$(field a execHost)" "$NODE/0-1"
is "it was started once" "$(field a startCount)" 1
like "it says when" "$(field a comment)" '^Job started on [A-Z][a-z]{2} [A-Z][a-z]{2} [0-9]{2} at [0-9]{2}:[0-9]{2}$'
like "kubectl shows it" "$(kubectl get pbsjobs)" '^a +na .* C .* 3 '

like "stoker ps says how it ended" "$("$STOKER" ps -a --socket "$SOCKET")" '^pbsjob/a +Failed .* exit status 3$'

# What cannot run says why.
job b ''
ok "one processor is taken" state b R
job c '"resources":{"nodes":"1:ppn='"$CPUS"'"}'
until_true eval '[ -n "$(field c comment)" ]'
like "the scheduler's words are the comment" "$(field c comment)" '^Not Running: '
is "and it is queued" "$(field c state)" Q
alter c '"resources":{"nodes":"1"}'
ok "qalter makes it run" state c R
alter c '"cancel":{}'

# Holds and times.
job d '"hold":"u"'
ok "a held job is in H" state d H
is "and has no pods" "$(pods d)" ""
why() { "$STOKER" why --socket "$SOCKET" "$@" 2>&1; }
says() { why "$1" | grep -Eq -- "$2"; }
ok "why says who holds it" until_true says d '^pbsjob/d is held: Job is held by its user$'
like "and what releases it" "$(why d)" "^what would help: \`qrls $(id d)\` releases it\.$"
stoker() { local c=$1 && shift && "$STOKER" "$c" --socket "$SOCKET" "$@" 2>&1; }
spec_hold() { kubectl get pbsjob "$1" -o 'jsonpath={.spec.hold}'; }
is "an operator's hold is one more letter" "$(stoker hold --operator d) $(spec_hold d)" "pbsjob/d held uo"
is "qhold and stoker hold are one" "$(stoker hold d)" "pbsjob/d was held before"
is "letters are released one by one" "$(stoker release --operator d) $(spec_hold d)" "pbsjob/d released; still held by user u"
is "stoker release lifts what qsub -h set" "$(stoker release d) $(spec_hold d)" "pbsjob/d released n"
ok "released it runs" state d R
job e '"executionTime":"2099-01-01T00:00:00Z"'
ok "not before its time" state e W
alter d '"rerunAfter":1'
ok "qrerun runs it again" until_true same d startCount 2
ok "with the same name" state d R
is "as its second run" "$(field d 'pods[0]')" "d-0-r1"
alter d '"suspend":true'
ok "suspended" state d S
alter d '"suspend":false'
ok "and resumed" state d R
alter d '"cancel":{"message":"too slow"}'
ok "a running job is deleted" state d C
is "with 271" "$(field d exitStatus)" 271
like "it says why" "$(field d comment)" '^Job deleted at request of .*: too slow$'
alter e '"executionTime":null'
ok "a time may be taken back" state e R

# Pods that are taken away.
kubectl delete pod e-0 --grace-period=0 --force >/dev/null 2>&1
ok "a job whose pod is taken away runs again" until_true same e startCount 2
alter e '"cancel":{}'
job f '"rerunnable":false'
ok "one that may not" state f R
kubectl delete pod f-0 --grace-period=0 --force >/dev/null 2>&1
ok "ends" state f C
is "with -4" "$(field f exitStatus)" -4
job g '"hold":"u"'
ok "held" state g H
alter g '"cancel":{}'
ok "and deleted before it ran" state g C
is "without a status" "$(field g exitStatus)" ""

# The object is deleted while the job runs, and what runs takes its time.
kubectl create -f - >/dev/null <<-END
	{"apiVersion":"stoker.dev/v1","kind":"PBSJob","metadata":{"name":"u","annotations":{"stoker.dev/fake-ignore-term":"true"}},
	 "spec":{"owner":"nobody","script":"true","killDelaySeconds":3000}}
END
ok "it runs" state u R
U=$(id u)
kubectl delete pbsjob u --wait=false >/dev/null
ok "it is there as long as its processes are" state u E
is "with them" "$(pods u)" u-0
kubectl delete pod u-0 --grace-period=1 --wait=false >/dev/null
ok "and goes with them" until_true gone u

# A script that asks to be run again.
kubectl patch pbsserver default --type merge -p '{"spec":{"automaticRequeueExitCode":99}}' >/dev/null
job v '' 0.01 99
waits() { [[ $(field v comment) == 'Not Running: Job asked to be run again and waits '*' seconds for that, '* ]]; }
ok "it waits for longer each time, and says so" until_true waits
alter v '"cancel":{}'
ok "as long as anybody wants it" state v C
kubectl patch pbsserver default --type merge -p '{"spec":{"automaticRequeueExitCode":null}}' >/dev/null

# Dependencies.
job p '"hold":"u"' 0.1 0
P=$(id p)
job q '"dependencies":[{"type":"afternotok","jobs":["'"$P"'"]}]' 0.1
Q=$(id q)
job r '"dependencies":[{"type":"afterok","jobs":["'"$Q"'"]}]' 0.1
job s '"dependencies":[{"type":"afterok","jobs":["'"$P"'"]}]' 0.1
ok "afterok waits" is_in s H
ok "and why says for whom" until_true says s "^pbsjob/s is held: Job waits until job $P\\.[^ ]+ has succeeded$"
alter p '"hold":"n"'
ok "and runs after success" state s C
is "itself well" "$(field s exitStatus)" 0
ok "afternotok is deleted" state q C
ok "and what waits for that" state r C
is "as it says" "$(field r comment)" "Job deleted as result of dependency on job $(field q id)"
is "it never ran" "$(field r startCount)" ""

# Arrays.
alter b '"cancel":{}'
job x '"array":{"request":"0-5","slots":2}' 0.2
ok "an array runs" state x RC # it may be quicker than who looks
like "two at a time" "$(kubectl get pods -l stoker.dev/pbsjob=x --field-selector status.phase=Running -o name | wc -l)" '^[012]$'
ok "to its end" state x C
is "all of it" "$(elements x)" '{"C:0":"0-5"}'
job y '"array":{"request":"0-3","slots":2}'
ok "another" until_true pods_are y "y-0-0 y-1-0"
ok "is running" state y R
alter y '"cancel":{"elements":"1-2"}'
ok "goes on without those that are deleted" until_true pods_are y "y-0-0 y-3-0"
alter y '"cancel":{"elements":null}'
ok "until all are" state y C

# Ids as qsub prints them.
# numbered SPEC: as qsub submits it; prints its id.
numbered() {
	kubectl create -o 'jsonpath={.metadata.name}' -f - <<-END
		{"apiVersion":"stoker.dev/v1","kind":"PBSJob","spec":{"owner":"nobody","script":"true","killDelaySeconds":0,$1}}
	END
}
N=$(numbered '"hold":"u"') M=$(numbered '"array":{"request":"0-1"}')
until_true eval '[ -n "$(id $M)" ]'
n=$(field "$N" id) m=$(field "$M" id)
like "ids have a server" "$n $m" "^$N\\.[^ ]+ $M\\[\\]\\.[^ ]+$"
ok "why knows it" until_true says "$n" "^pbsjob/$N is held: Job is held by its user$"
for word in "pbsjob/$n" "$N[]" "$N"; do
	like "and $word" "$(why "$word")" "^pbsjob/$N is held: "
done
like "describe too" "$(stoker describe "$n")" "^pbsjob/$N"
ok "an element" until_true says "$M[1]" "^pbsjob/$M\\[1\\] runs since "
kubectl annotate node "$NODE" stoker.dev/np=64 >/dev/null # room for all
job slots '"array":{"request":"0-9","slots":2},"elementHold":"7"'
ok "why tells of elements behind the slot limit" until_true says slots \
	'^pbsjob/slots\[2-6,8-9\] is waiting: its array may run no more than 2 elements at a time$'
S=$(field slots id) S=${S%%[*}
like "what lets more run" "$(why slots)" "^what would help: \`qalter -t %N '$S\\[\\]'\` lets more of them run"
like "and of those that are held" "$(why slots)" '^pbsjob/slots\[7\] is held: Job is held by its user$'
like "one that has no pod is known" "$(why "$S[5]")" "^pbsjob/$S\\[5\\] is pending: its array may run no more than 2"
element() { api GET "/apis/stoker.dev/v1/pbs/jobs?format=full&ids=$S%5B$1%5D" | jq -r '.items[0].status.comment'; }
is "as qstat says of it" "$(element 5)" "Not Running: its array may run no more than 2 elements at a time"
has_begun() { element 0 | grep -q '^Job started on '; }
ok "and of one that runs" until_true has_begun
alter slots '"cancel":{}'
kubectl annotate node "$NODE" stoker.dev/np- >/dev/null
logs_of() { stoker logs --list "$1" | grep -q "^$2 "; }
ok "has its logs" until_true logs_of "$M[1]" "$M-1-0"
ok "and its array all" until_true logs_of "$m" "$M-0-0"
is "an element is not killed with its array" "$(stoker kill "$M[1]")" "stoker kill: $M[1] is an element of an array: \`qdel '$M[1]'\` ends it"
like "kill ends jobs as qdel does" "$(stoker kill "$n" "$m")" "^pbsjob/$N ended \\(0 pods stopped\\)$"
is "they stay as ones that have ended" "$(field "$N" state) $(field "$M" state)" "C C"
like "and say so" "$(field "$N" comment)" '^Job deleted at request of '
like "once more it says that they had" "$(stoker kill "$n")" "^pbsjob/$N had ended before \\(Failed\\); nothing was done\\."
is "their record can be removed" "$(stoker kill --remove "$n")" "pbsjob/$N removed"
ok "for good" gone "$N"

# Mail.
cat >"$T/send" <<-END
	#!/bin/sh
	{ echo "for \$*"; cat; } >>"$T/mails"
END
chmod +x "$T/send"
kubectl patch pbsserver default --type merge -p "{\"spec\":{\"mailCommand\":\"$T/send -i\"}}" >/dev/null
job m '"mail":{"points":"be","users":["ben@site.org","--evil"]}' 0.1 4
mails() { grep -c "$1" "$T/mails"; }
both_mails() { [ "$(mails "^Subject: PBS JOB $(id m)\.") $(mails '^for -i ben@site.org$')" = "2 2" ]; }
ok "users are told of the end" until_true grep -q '^Exit_status=4' "$T/mails"
ok "and of the start, by the program of the server" until_true both_mails
is "once each" "$(mails '^Subject: ')" 2
kubectl patch pbsserver default --type merge -p '{"spec":{"mailCommand":null}}' >/dev/null

# A node for itself.
job n1 '"nodeExclusive":true'
ok "a job has the node for itself" state n1 R
job n2 ''
ok "who comes waits" until_true eval '[ -n "$(field n2 comment)" ]'
like "and is told so" "$(field n2 comment)" 'had a pod that has the node for itself'
job n3 '"nodeExclusive":true,"hold":"u"'
alter n1 '"cancel":{}'
ok "until it has ended" state n2 R
alter n3 '"hold":"n"'
ok "it waits itself for an empty one" until_true eval 'field n3 comment | grep -q "weren.t empty"'
alter n2 '"cancel":{}'
ok "which it gets" state n3 R
alter n3 '"cancel":{}'

# The server is killed: nothing is lost, nothing runs twice.
job z '"array":{"request":"0-11","slots":2}' 0.4
ok "an array is under way" state z RC
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
node_start main --runtime fake
ok "it comes to its end" state z C
is "each element once" "$(elements z)" '{"C:0":"0-11"}'

# The accounts have each change once, also those around the kill.
records() { cat "$DATA"/accounting/pbs/2* | awk -F';' -v "id=$1" '$3 ~ "^" id "(\\[[0-9]*\\])?\\." {print $2}' | sort | tr -d '\n'; }
records_are() { [ "$(records "$1")" = "$2" ]; }
record() { cat "$DATA"/accounting/pbs/2* | grep ";$1;$2\\."; }
A=$(id a) D=$(id d) G=$(id g) R=$(id r) Z=$(id z)
ok "a job is queued, started and ended" until_true records_are "$A" EQS
ok "one that was run again and deleted says so" until_true records_are "$D" DEQRSS
ok "what never ran has no end" until_true records_are "$G" DQ
ok "nor what the server deleted" until_true records_are "$R" AQ
ok "whose object was deleted ended" until_true records_are "$U" DEQS
like "as somebody asked" "$(record D "$U")" ';requestor=[a-z]+'
like "with its time" "$(record E "$U")" ' Exit_status=271 resources_used.walltime='
like "an end says all" "$(cat "$DATA"/accounting/pbs/2* | grep ";E;$A\\.")" ' exec_host=.*/0-1 .* end=[0-9]+ Exit_status=3 .*resources_used.walltime=00:00:0'
ok "each element is in them, once" until_true records_are "$Z" EEEEEEEEEEEEQSSSSSSSSSSSS
like "with what it used, and under its own name" "$(cat "$DATA"/accounting/pbs/2* | grep ";E;$Z\\[7\\]")" ' jobname=nz-7 .* exec_host=.* end=[0-9]+ Exit_status=0 .*resources_used.walltime=00:00:0'

# What has ended is shown for a time.
kubectl patch pbsserver default --type merge -p '{"spec":{"keepCompletedSeconds":0}}' >/dev/null
ok "and then gone" until_true gone z
ok "with its pods" until_true pods_are z ""
like "but in the accounts" "$(tracejob -p "$DATA" "$A")" '^[0-9/]{10} [0-9:]{8}  A    user=nobody .* Exit_status=3 '
done_testing
