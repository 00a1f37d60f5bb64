#!/bin/bash
# A cluster of examples/pbs-site with two ordinary users of the machine: the scripts that they bring from Torque, as they
# are, and what each tries to do to the other's jobs.
. "$(dirname "$0")/lib.sh"

need_accounts
A=stka$$ B=stkb$$ LAB=stkl$$
mkdir -m 755 "$T/bin" "$T/ghome" "$T/gdata" "$T/gpub" "$T/gpub/sequence"
echo leftImg >"$T/gpub/sequence/0"
chmod 711 "$T"
groupadd "$LAB"
for u in $A $B; do
	useradd -M -d "$T/ghome/$u" -s /bin/bash "$u"
	install -d -m 700 -o "$u" -g "$u" "$T/ghome/$u" "$T/gdata/$u"
done
usermod -aG "$LAB" $A
trap 'cleanup; userdel $A; userdel $B; groupdel $LAB' EXIT
cp "$STOKER" "$T/bin/stoker"
cp "${STOKER_PBS:-$ROOT/build/stoker-pbs}" "$T/bin/stoker-pbs"
for f in $("$ROOT/tools/pbs-links" "$T/links"); do ln -s stoker-pbs "$T/bin/$f"; done
STOKER=$T/bin/stoker # the server's own commands are what scripts of the site may call

# at USER DIRECTORY-OF-THE-USER SHELL-COMMAND: as after a login there.
at() {
	setpriv --reuid="$1" --regid="$1" --init-groups env -i HOME="$T/ghome/$1" USER="$1" LOGNAME="$1" SHELL=/bin/bash LANG=C.UTF-8 \
		PATH="$T/bin:/usr/bin:/bin" STOKER_SOCKET="$SOCKET" STOKER_TORQUE_CFG=/nonexistent bash -c "cd '$T/ghome/$1/$2' && $3" </dev/null 2>&1
}
a() { at $A . "$1"; }
b() { at $B . "$1"; }
# as an administrator
q() { STOKER_SOCKET=$SOCKET "$T/bin/qmgr" "$@" 2>&1; }
home() { echo "$T/ghome/$1"; }
# script USER FILE: standard input becomes the user's.
script() {
	cat >"$T/ghome/$1/$2"
	chown "$1:" "$T/ghome/$1/$2"
}
job() { STOKER_SOCKET=$SOCKET "$T/bin/qstat" -f -1 "$1" 2>/dev/null | sed -n "s/^    $2 = //p"; }
job_is() { case $(job "$1" job_state) in [$2]) return 0 ;; *) return 1 ;; esac }
# state ID LETTERS: waits until it is one of them.
state() { eventually 20 job_is "$1" "$2" || { STOKER_SOCKET=$SOCKET "$T/bin/qstat" -f "$1" && false; }; }
ended() { state "$1" C || fail "$1 ends" "$(job "$1" comment)"; }

# ---- the site, in both languages ----
server_start words
q <"$ROOT/examples/pbs-site/site.qmgr" >"$T/said"
is "qmgr takes the site's script" "$(cat "$T/said")" ""
q -c 'print server' >"$T/in.words"
server_stop
node_start main --gpus 8 --node-name G102 || done_testing
chmod 711 "$T/main"
chmod 666 "$SOCKET"
ok "kubectl takes the site's manifest" kubectl apply -f "$ROOT/examples/pbs-site/site.yaml"
q -c 'print server' >"$T/in.yaml"
is "they say the same" "$(diff "$T/in.words" "$T/in.yaml")" ""
is "said again only the queues are there already" "$(q <"$ROOT/examples/pbs-site/site.qmgr")" \
	"$(for n in mcc test; do echo "qmgr obj=$n svr=default: Queue already exists"; done)"
is "nodes have letters, and slots enough" "$(q -c 'set node G102 properties = S,D; set node G102 np = 16')" ""
kubectl patch pbsserver default --type merge -p '{"spec":{"hostRoots":["'"$T/ghome"'","'"$T/gdata"'"],"readOnlyRoots":["'"$T/gpub"'"],"rootQuotas":["'"$T/ghome"'=50gb","'"$T/gdata"'=500gb"]}}' >/dev/null
q -c "set queue mcc acl_users = $A; set queue mcc acl_user_enable = True" >/dev/null
has_np() { [ "$(kubectl get node g102 -o 'jsonpath={.status.allocatable.cpu}')" = 16 ]; }
ok "the node has sixteen" eventually 30 has_np

# ---- the document's script ----
six=$(b 'echo sleep 1000 | qsub -l nodes=1:gpus=6:S')
ok "somebody has six cards" state "$six" R
[ "$FAILED" = 0 ] || done_testing
script $A myjob.pbs <"$ROOT/examples/pbs-site/myjob.pbs"
id=$(a 'qsub myjob.pbs')
like "qsub prints the number" "$id" '^[0-9]+\.Ghead$'
ended "$id"
is "its output" "$(sed 's/^Time is .*:.*/Time is .../' "$(home $A)/$id.out")" "Time is ...
Directory is $(home $A)
This job runs on following nodes:
Node:G102
Gpus:G102-gpu6
CUDA_VISIBLE_DEVICES:6"
is "its errors" "$(cat "$(home $A)/$id.err")" ""
is "it ended well" "$(job "$id" exit_status)" 0
is "a week by default" "$(job "$id" Resource_List.walltime)" 168:00:00
like "kubectl knows it" "$(kubectl get pbsjobs -n $A)" "^${id%%.*} +testjob +$A +C +batch +0 "

# ---- the same with startdocker ----
if command -v buildah >/dev/null && command -v busybox >/dev/null; then
	mkdir "$T/img"
	cp "$(command -v busybox)" "$T/img/busybox"
	printf 'FROM scratch\nCOPY busybox /bin/busybox\nRUN ["/bin/busybox", "--install", "-s", "/bin"]\n' >"$T/img/Dockerfile"
	"$STOKER" image build "$T/img" -t bit:5000/deepo -q --data "$T/main/data" >/dev/null
	script $A run_in_docker.py <<-'END'
		#!/bin/sh
		echo "script: $(id -un) in $PWD, cards $CUDA_VISIBLE_DEVICES, $PYTHONPATH"
		echo result >"$OUT/made"
	END
	chmod +x "$(home $A)/run_in_docker.py"
	{
		sed '/^#  /d' "$ROOT/examples/pbs-site/myjob.pbs"
		cat <<-END
			export PATH=$T/bin:\$PATH
			startdocker -c 'echo command: \$PWD' bit:5000/deepo
			startdocker -u "-v $T/gdata/\$USER:$T/gdata/\$USER -w $T/ghome/\$USER -e PYTHONPATH=/data/pylib -e OUT=$T/gdata/\$USER" -s $T/ghome/\$USER/run_in_docker.py bit:5000/deepo
			startdocker -u "--ipc=host -v $T/gpub/sequence:$T/gpub/sequence --shm-size 8G" -D "$T/gdata/\$USER" -c "cat $T/gpub/sequence/0; touch $T/gpub/sequence/1; ls $T/gdata/\$USER; exit 5" bit:5000/deepo &>record.txt
		END
	} | script $A docker.pbs
	id=$(a 'qsub docker.pbs')
	ended "$id"
	is "containers in the job" "$(sed -n '/^CUDA/,$p' "$(home $A)/$id.out")" "CUDA_VISIBLE_DEVICES:6
command: /
script: $A in $(home $A), cards 0, /data/pylib"
	is "no errors" "$(cat "$(home $A)/$id.err")" ""
	is "data and public data" "$(sed "s#$T##" "$(home $A)/record.txt" | LC_ALL=C sort)" "leftImg
made
touch: /gpub/sequence/1: Read-only file system"
	is "the last one's status is the job's" "$(job "$id" exit_status)" 5
fi
q -c 'set server next_job_number = 380963' >/dev/null

# ---- what they write: one case a pattern ----
# submit [OPTIONS]: the script on standard input, from the directory p; its number goes to id.
install -d -o $A -g $A "$(home $A)/p" "$(home $A)/p/jobs"
submit() {
	script $A p/x.pbs
	id=$(at $A p "qsub ${1:-} x.pbs")
}
submit <<-'END'
	# /ghome/u/x.pbs   # 说明：第一行
	  #PBS    -N  corpus   # 任务名 it's a name
	#PBS	-o	job_$PBS_JOBID.out
	#PBS -e jobs/x.err 
	#PBS -l nodes=1:gpus=1:S
	#PBS -l walltime=600:00:00
	#PBS -r y
	#PBS  -m abef
	#PBS -q mcc

	echo Time is 'date'
	cd $PBS_0_WORKDIR
	echo $PWD $PBS_QUEUE $PBS_WALLTIME $PBS_JOBNAME $(wc -l <$PBS_GPUFILE)
	cd $PBS_O_WORKDIR; ls -d nothing \
	   jobs &> record.txt
	cat $0 | grep -c 任务名
	#PBS -N too_late
END
is "the number is the one that was set" "$id" 380963.Ghead
ended "$id"
is "all patterns in one script" "$(cat "$(home $A)/p/job_$id.out")" "Time is date
$(home $A) mcc 2160000 corpus 1
2"
is "bash runs it, without a first line" "$(grep -c . "$(home $A)/p/record.txt")" 2
is "nothing failed" "$(cat "$(home $A)/p/jobs/x.err")" ""
is "mail, rerun and both -l lines are taken" "$(for f in Mail_Points Rerunable Resource_List.nodes Resource_List.walltime; do job "$id" $f; done | tr '\n' ' ')" \
	'abef True 1:gpus=1:S 600:00:00 '
submit < <(printf '#PBS -N last\n#PBS -l nodes=G102:gpus=1\necho no newline')
ended "$id"
is "a host by its name; no newline at the end" "$(cat "$(home $A)/p/last.o${id%%.*}")" "no newline"
submit "-o $T/ghome/$A/\\\$PBS_JOBID.out -j oe -l nodes=1:gpus=2:D -v TZ=Asia/Shanghai,WORD='two words'" <<-'END'
	#PBS -N loser
	#PBS -o nowhere/else
	echo "$CUDA_VISIBLE_DEVICES $(date +%Z) $WORD" >&2; exit 3
END
ended "$id"
is "argv wins over directives" "$(cat "$(home $A)/$id.out")" "7,6 CST two words"
is "the script's status" "$(job "$id" exit_status)" 3
is "one machine is not two" "$(a 'echo true | qsub -l select=2:ncpus=1,place=scatter; echo [$?]' | tail -n 1)" '[190]'
submit "-l select=1:ncpus=1+2:mpiprocs=2,place=pack -j oe -o pack" <<<'echo $PBS_NP $PBS_NUM_NODES $(sort -u $PBS_NODEFILE)'
ended "$id"
like "all in one place" "$(cat "$(home $A)/p/pack") $(job "$id" exec_host)" '^5 1 G102 G102/[0-9,-]+$'
is "small letters are other letters" "$(a 'qsub -l nodes=1:gpus=1:s myjob.pbs; echo [$?]')" \
	"qsub: submit error (Job exceeds queue resource limits MSG=cannot locate feasible nodes (nodes file is empty, all systems are busy, or no nodes have the requested feature): no node has property s)
[190]"
submit < <(printf '#PBS -N dos\r\necho\r\n')
is "a script from Windows" "$id" "qsub:  script is written in DOS/Windows text format"
is "a program is no script" "$(a 'qsub /bin/true; echo [$?]')" "qsub:  file must be an ascii script
[1]"
is "an empty one is none" "$(a 'qsub; echo [$?]')" "qsub: the script is empty
[1]"
is "root has no jobs" "$(cd / && STOKER_SOCKET=$SOCKET "$T/bin/qsub" "$(home $A)/myjob.pbs" 2>&1; echo "[$?]")" "qsub can not be run as root
[1]"

# Jobs run only in docker.
for p in batch mcc test; do
	submit "-q $p" < <(printf '#PBS -N bare_%s\n#PBS -j oe\n/usr/bin/python3 -c "print(1)"; echo $?\n' $p)
	ended "$id"
	is "programs of the machine are not for jobs of $p" "$(sed 's/.*python3: //' "$(home $A)/p/bare_$p.o${id%%.*}")" "Permission denied
126"
done
is "where a queue lets them in" "$(q -c 'set queue batch containers = allowed')" ""

long=$(a 'echo sleep 1000 | qsub -N long -l walltime=1 -j oe')
big=$(a 'qsub -N big -l mem=20mb -- /usr/bin/python3 -c "x = bytearray(200 << 20)"')
# Neither the script nor its last command is the one that is killed.
BIG="/usr/bin/python3 -c 'x = bytearray(200 << 20)'"
quick=$(a "echo \"$BIG; exit 0\" | qsub -N quick -l mem=20mb")
boxed=$(a "echo \"$BIG; exit 0\" | qsub -N boxed -l image=host,mem=20mb")
tiny=$(a 'echo true | qsub -N tiny -l mem=100w')
small=$(a 'echo true | qsub -N small -l mem=16kb')
stays=$(a "echo \"$BIG; sleep 1000\" | qsub -N stays -l pmem=20mb")

# ---- queues ----
is "mcc is a laboratory's" "$(b 'echo true | qsub -q mcc; echo [$?]')" \
	"qsub: submit error (Unauthorized Request  MSG=user ACL rejected the submitting user: user $B@$(hostname -s), queue mcc)
[159]"
q -c "set queue mcc acl_user_enable = False; set queue mcc acl_groups = $LAB; set queue mcc acl_group_sloppy = True; set queue mcc acl_group_enable = True" >/dev/null
like "or a group's" "$(b 'echo true | qsub -q mcc; echo [$?]')" "group ACL is not satisfied: user $B@"
like "whose members may" "$(a 'echo true | qsub -q mcc')" '^[0-9]+\.Ghead$'
is "fifteen minutes are the most in test" "$(a 'echo true | qsub -q test -l walltime=15:01; echo [$?]')" \
	"qsub: submit error (Job exceeds queue resource limits MSG=cannot satisfy queue max walltime requirement)
[190]"
t1=$(a 'echo sleep 1000 | qsub -q test')
t2=$(a 'echo true | qsub -q test')
is "and what a job gets there" "$(job "$t1" Resource_List.walltime)" 00:15:00
ok "one at a time" state "$t1" R
is "for each user" "$(job "$t2" job_state)" Q
is "qdel" "$(a "qdel $t1 && echo gone")" gone
ok "the next has its turn" state "$t2" C
is "longer is refused also afterwards" "$(a "h=\$(echo true | qsub -h -q test); qalter -l walltime=1:00:00 \$h; echo [\$?]; qdel \$h" | sed 's/ [0-9]*\.Ghead$//')" \
	"qalter: Job exceeds queue resource limits MSG=cannot satisfy queue max walltime requirement
[190]"

ended "$long"
like "who takes too long reads it" "$(job "$long" exit_status) $(cat "$(home $A)/long.o${long%%.*}")" '^-11 =>> PBS: job killed: walltime ([2-9]|[1-9][0-9]+) exceeded limit 1$'
for n in big quick boxed; do
	ended "${!n}"
	is "who takes too much memory, too: $n" "$(job "${!n}" exit_status) $(grep -v Killed "$(home $A)/$n.e${!n%%.*}")" \
		"-10 =>> PBS: job killed: mem 20975616 exceeded limit 20971520"
done
# Whether the kernel or who looks at its processes is first, nobody knows.
ended "$stays"
like "also with one process" "$(job "$stays" exit_status) $(grep -v Killed "$(home $A)/stays.e${stays%%.*}")" \
	'^-10 =>> PBS: job killed: p?mem [0-9]+ exceeded limit 20971520$'

for n in tiny small; do
	ended "${!n}"
	like "and who has too little to begin with: $n" "$(job "${!n}" exit_status) $(cat "$(home $A)/$n.e${!n%%.*}")" \
		'^-10 =>> PBS: job killed: mem [0-9]+ exceeded limit [0-9]+$'
done

# ---- each other's jobs ----
script $A secret.pbs <<-'END'
	#PBS -N secret
	#PBS -v PASSWORD=tell-nobody
	#PBS -o secret.out
	#PBS -l nodes=1:gpus=1
	# a word in confidence
	echo confidential
	setsid sleep 1000 &
	sleep 1000
END
s=$(a 'qsub secret.pbs')
n=${s%%.*}
ok "a job with secrets runs" state "$s" R
ok "its output is live" eventually 30 grep -q confidential "$(home $A)/secret.out"
a "dockerlog $n" >"$T/dockerlog" & # until the job ends
ok "also by dockerlog" eventually 30 grep -qx confidential "$T/dockerlog"
for c in qdel qhold qrls qrerun 'qsig -s KILL' 'qalter -N mine' 'qmsg hello' 'qmove mcc' "qalter -l walltime=1" 'qdel -p' 'qrun'; do
	like "not for others: $c" "$(b "$c $s; echo [\$?]")" '\[159\]$'
done
like "others see that it is there" "$(b "qstat $s")" "^$s +secret +$A "
# The document's first job by the accounts, when the server has forgotten it.
q -c 'set server keep_completed = 0' >/dev/null
past=$(a 'echo exit 7 | qsub -N past')
forgotten() { ! a "qstat $past" | grep -q past; }
ok "a job is forgotten" eventually 60 forgotten
traced() { a "tracejob $past" | grep -qE '^[0-9/]{10} [0-9:]{8}  A    user='$A' .*jobname=past .* Exit_status=7 '; }
ok "its owner finds it in the accounts" eventually 60 traced
is "to others it is unknown" "$(b "tracejob $past; echo [\$?]")" "tracejob: Unknown Job Id Error $past
[153]"
like "the files are root's" "$(b "tracejob -p $T/main/data ${past%%.*}")" '^tracejob: .*/accounting/pbs: Permission denied$'
q -c 'set server keep_completed = 300' >/dev/null
unlike "but not what is in it" "$(b "qstat -f $s; qstat -f -x $s; qstat -F json -f $s; tracejob $n; curl -s --unix-socket \$STOKER_SOCKET 'http://x/apis/stoker.dev/v1/pbs/jobs?format=full'")" 'tell-nobody|confiden'
raw() { b "curl -s -o out.txt -w '%{http_code}' --unix-socket \$STOKER_SOCKET $1; grep -cE 'tell-nobody|confiden' out.txt; rm -f out.txt" | tr '\n' ' '; }
J=http://x/apis/stoker.dev/v1/namespaces
is "nor by the API" "$(raw "$J/$A/pbsjobs/$n")" '4030 '
is "nor its log" "$(raw "http://x/api/v1/namespaces/$A/pods/$n-0/log")" '4030 '
is "nor all jobs" "$(raw http://x/apis/stoker.dev/v1/pbsjobs)" '4030 '
like "nor its files" "$(b "cat ~$A/secret.out $T/main/data/spool/* $T/main/data/*/*/$s.SC; dockerlog $s")" 'denied'
post() { b "curl -s --unix-socket \$STOKER_SOCKET -H 'Content-Type: application/json' -X POST $1 -d '$2'" | field '.code // .status.id // .kind'; }
JOB='"apiVersion":"stoker.dev/v1","kind":"PBSJob","metadata":{}'
is "a job in another's name" "$(post "$J/$B/pbsjobs" "{$JOB,\"spec\":{\"script\":\"id\",\"owner\":\"$A\"}}")" 403
is "or place" "$(post "$J/$A/pbsjobs" "{$JOB,\"spec\":{\"script\":\"id\"}}")" 403
is "a pod that says it is one" "$(post "http://x/api/v1/namespaces/$B/pods" '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"stoker.dev/pbsjob":"'"$n"'"}},"spec":{"runtimeClassName":"host-process","containers":[{"name":"job","image":"host"}]}}')" 403
is "a signal past qsig" "$(post "$J/$A/pbsjobs/$n/signal" '{"signal":"KILL"}')" 403
like "qsub -u" "$(b "echo true | qsub -u $A; echo [\$?]")" '\[[1-9][0-9]*\]$'
like "a group that one is not in" "$(b "echo true | qsub -W group_list=$LAB; echo [\$?]")" 'Bad GID for job execution.*\)|\[199\]$'
w=$(b "echo 'id -un; echo \$USER \$LOGNAME \$HOME' | USER=$A LOGNAME=$A HOME=$(home $A) PBS_O_LOGNAME=$A qsub -V -o $(home $B)/who -j oe")
ended "$w"
is "whoever one says to be, one is oneself" "$(cat "$(home $B)/who")" "$B
$B $B $(home $B)"
w=$(b "echo true | qsub -o $(home $A)/mine -e $(home $B)/e")
ended "$w"
is "output goes where its owner may write" "$(job "$w" exit_status) $(ls "$(home $A)/mine" 2>&1 | grep -c 'No such')" "-9 1"
w=$(b "echo true | qsub -d $(home $A)")
ended "$w"
is "and begins where its owner may go" "$(job "$w" exit_status)" -2
c=$(b "echo 'echo \$CUDA_VISIBLE_DEVICES' | qsub -l nodes=1:gpus=1 -o $(home $B)/cards -j oe")
ended "$c"
is "no card twice" "$(cat "$(home $B)/cards") $(job "$s" exec_gpus) $(job "$six" exec_gpus)" \
	"7 G102-gpu/6 G102-gpu/5+G102-gpu/4+G102-gpu/3+G102-gpu/2+G102-gpu/1+G102-gpu/0"
is "the site's settings" "$(b "qmgr -c 'set queue test resources_max.walltime = 99:00:00'; echo [\$?]" | sed 's/  MSG=.*//')" \
	'qmgr obj=test svr=default: Unauthorized Request
[2]'
is "its nodes" "$(b 'pbsnodes -o G102; echo [$?]')" 'pbsnodes: Unauthorized Request  MSG=operation not permitted
[1]'
# ---- looking ----
like "qstat -n | grep" "$(b "qstat -n | grep -A1 $B")" '^ +G102/0$'
like "qstat -u" "$(b 'qstat -u $USER')" "^$six +$B +batch "
like "qstat -f -x" "$(b "qstat -f -x ${six%%.*}")" "<Job_Id>$six</Job_Id>.*<exec_gpus>G102-gpu/5"
like "chk_gpu" "$(b "chk_gpu | grep $B")" "^${six%%.*}	$B +STDIN .*1:gpus=6:S .* R .*G102-gpu/5/4/3/2/1/0"
like "the cards" "$(b chk_gpu)" '^102\((S,D|D,S)\):	\[x\]\[x\]\[x\]\[x\]\[x\]\[x\]\[x\]\[ \]'
a 'head -c 3145728 /dev/zero >model' >/dev/null
like "quotas" "$(a chk_quota | tr -s ' ')" "^$T/ghome/$A 3\.[0-9]mb 50gb 0%\$"
like "of each directory" "$(a chk_quota | tr -s ' ')" "^$T/gdata/$A [0-9]+kb 500gb 0%\$"
like "others' are closed" "$(b "chk_quota $A" | tr -s ' ')" "^$T/ghome/$A - 50gb - Permission denied\$"
is "everyone's, for root" "$(STOKER_SOCKET=$SOCKET "$T/bin/chk_quota" | grep -cE '(mb|kb) +(50|500)gb')" 4

# ---- the end ----
is "all are one's own" "$(b 'qdel all; echo [$?]')" '[0]'
ended "$six"
is "the job has lived through it all" "$(job "$s" job_state) $(job "$s" Job_Name) $(job "$s" start_count)" "R secret 1"
alone() { [ "$(pgrep -c -u $A sleep)" = 0 ]; }
is "its owner ends it" "$(a "qdel $n; echo [\$?]")" '[0]'
ok "and everything that it began" eventually 30 alone
ended "$s"
is "with 271" "$(job "$s" exit_status)" 271
reports() { b get_report | grep -E "^$B +[0-9.]+ +[0-9.]+ +[0-9]+\$"; }
ok "what one's jobs took is in the month's report" eventually 30 reports
unlike "and nothing of others" "$(b get_report; b rpt_detail)" "$A"
like "by job" "$(b rpt_detail)" "^$B +${six%%.*} .*batch +[0-9.]+ "
done_testing
