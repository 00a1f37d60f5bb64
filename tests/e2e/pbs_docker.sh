#!/bin/bash
# startdocker: containers as their caller, with docker's statuses and words, in jobs and outside; pbsdsh and mpirun.
. "$(dirname "$0")/lib.sh"

need_accounts buildah
BIN=$(cd "$(dirname "$STOKER")/bin" && pwd)
A=stka$$ B=stkb$$
chmod 711 "$T"
mkdir -p "$T/home" "$T/data/$A" "$T/data/$B" "$T/pub/set" "$T/img"
for u in $A $B; do
	useradd -M -d "$T/home/$u" -s /bin/bash "$u"
	mkdir -p "$T/home/$u"
	chown "$u:" "$T/home/$u" "$T/data/$u"
	chmod 700 "$T/home/$u" "$T/data/$u"
done
groupadd "$A-lab" && usermod -aG "$A-lab" "$A"
trap 'cleanup; userdel "$A"; userdel "$B"; groupdel "$A-lab"' EXIT
echo public >"$T/pub/set/f"
chmod 777 "$T/pub/set"
cp "$(command -v busybox)" "$T/img/busybox"
printf 'FROM scratch\nCOPY busybox /bin/busybox\nRUN ["/bin/busybox", "--install", "-s", "/bin"]\n' >"$T/img/Dockerfile"

begin() { node_start main --gpus 4 --node-name g102; }
begin || done_testing
"$STOKER" image build "$T/img" -t lab/box:1 -q --data "$T/main/data" >/dev/null
kubectl patch pbsserver default --type merge -p "{\"spec\":{\"hostRoots\":[\"$T/data\"],\"readOnlyRoots\":[\"$T/pub\"]}}" >/dev/null
kubectl annotate node g102 stoker.dev/np=8 >/dev/null
# by USER COMMAND: in the user's home, with the commands in reach; its status is added.
by() {
	su "$1" -c "export STOKER_SOCKET=$SOCKET PATH=$BIN:\$PATH; cd; $2" 2>&1
	echo "status $?"
}
HA=$T/home/$A DA=$T/data/$A

# settles NAME COMMAND: it becomes true.
settles() { ok "$1" eventually 60 "${@:2}"; }

# Outside of jobs: who one is, what one sees.
is "it runs as the caller, who has an account, a home and the root as working directory" \
	"$(by "$A" 'startdocker -c "id -u; id -un; id -Gn; pwd; echo \$HOME \$USER \$LOGNAME; touch \$HOME/made; exit 7" lab/box:1')" \
	"$(id -u "$A")
$A
$A $A-lab
/
$HA $A $A
status 7"
is "what it makes is the caller's" "$(stat -c %U "$HA/made")" "$A"
is "input comes in, output and errors go apart" "$(by "$A" 'echo in | startdocker -u -i -c "cat; echo err >&2" lab/box:1 2>err; cat err')" "in
err
status 0"
is "no byte of output is lost" "$(by "$A" 'startdocker -c "seq 1 50000" lab/box:1 | (sleep 1; md5sum)')" "$(seq 1 50000 | md5sum)
status 0"
is "mounts, modes, memory, variables and a directory" "$(by "$A" "startdocker -D $DA/ -P $DA -u '-it -v $T/pub/set:/set --privileged --shm-size 32m --ipc=host -w $DA -e A=\$(B)' \
	-c 'exec 2>&1; pwd; touch here; touch /set/x; cat /set/f; df -m /dev/shm | grep -o \" 32  .*0%\"; echo \$A' lab/box:1" | sed "s#$T##g")" \
	"startdocker: warning: --privileged is ignored: containers have the rights of their user
/data/$A
touch: /set/x: Read-only file system
public
 32         0        32   0%
\$(B)
status 0"
is "a terminal is one" "$(by "$A" 'python3 -c "import pty, sys; sys.exit(pty.spawn([\"startdocker\", \"-u\", \"-it\", \"-c\", \"sh -c tty\", \"lab/box:1\"]) >> 8)"' | tr -d '\r')" "/dev/pts/0
status 0"

# What cannot be, in docker's words.
printf 'echo hi\n' >"$HA/noint.sh"
printf '#!/bin/sh\necho hi $0\n' >"$HA/ok.sh"
cp "$HA/ok.sh" "$HA/noexec.sh"
chmod 755 "$HA/noint.sh" "$HA/ok.sh"
chmod 644 "$HA/noexec.sh"
is "a script of the home runs" "$(by "$A" 'startdocker -s ok.sh lab/box:1')" "hi $HA/ok.sh
status 0"
like "without #!" "$(by "$A" 'startdocker -s noint.sh lab/box:1' | tail -n 2 | tr '\n' ' ')" 'exec format error status 1 $'
like "without x" "$(by "$A" "startdocker -s $HA/noexec.sh lab/box:1" | tr '\n' ' ')" "^startdocker: exec: \"$HA/noexec.sh\": permission denied status 126 \$"
like "not there" "$(by "$A" 'startdocker -c "nosuch x" lab/box:1' | tr '\n' ' ')" '^startdocker: exec: "nosuch": no such file or directory status 127 $'
printf '#!/bin/nosuch\n' >"$HA/noprogram.sh"
chmod 755 "$HA/noprogram.sh"
like "a script whose interpreter is not there" "$(by "$A" 'startdocker -s noprogram.sh lab/box:1' | tail -n 2 | tr '\n' ' ')" 'startdocker: exec: "noprogram.sh": no such file or directory status 127 $'
ln -s /etc "$HA/etc"
is "a way to what may not be mounted" "$(by "$A" 'startdocker -u "-v $HOME/etc:/x" -c true lab/box:1')" "startdocker: MountVolume.SetUp failed for volume \"v1\" : hostPath $HA/etc is not below a directory that users may mount
status 125"
like "no image" "$(by "$A" 'startdocker -c true localhost:1/none' | tr '\n' ' ')" "^startdocker: Unable to find image 'localhost:1/none': .*status 125 \$"
is "too high" "$(by "$A" "startdocker -D $T/data -c true lab/box:1")" "startdocker: -D: $T/data is too high to be mounted: at least the user's level, such as $T/data/$A
status 125"
is "of the machine" "$(by "$A" 'startdocker -u "-v /etc:/x" -c true lab/box:1')" "startdocker: -u: -v /etc:/x: /etc may not be mounted: only what is below $HA, $T/data, $T/pub
status 125"
is "another's" "$(by "$A" "startdocker -D $T/data/$B -c true lab/box:1")" "startdocker: -D: cannot mount $T/data/$B: Permission denied
status 125"
is "more rights" "$(by "$A" 'startdocker -u "--cap-add=ALL" -c true lab/box:1')" "startdocker: -u: --cap-add=ALL is not allowed: containers have the rights of their user
status 125"
is "both -s and -c" "$(by "$A" 'startdocker -s a -c b lab/box:1')" "startdocker: exactly one of -s and -c is needed; see startdocker --help
status 125"
chmod 600 "$SOCKET"
is "a server that is not for this account" "$(by "$A" 'startdocker -c true lab/box:1')" "startdocker: dial unix $SOCKET: connect: permission denied
status 125"
chmod 666 "$SOCKET"
pods() { kubectl get pods -A -o json | jq -r '.items[].metadata.name' | grep startdocker | sort; }
clean() { [ -z "$(pods)" ]; }
settles "nothing is left of any of them" clean

# In a job: its cards from 0, its group, its end.
cat >"$HA/job.pbs" <<-END
	#PBS -N dj
	#PBS -j oe
	#PBS -l nodes=1:gpus=2
	PATH=$BIN:\$PATH
	echo outside \$CUDA_VISIBLE_DEVICES
	startdocker -c 'echo inside \$CUDA_VISIBLE_DEVICES; grep -c _job/ /proc/self/cgroup; exit 5' lab/box:1
	echo status \$?
	startdocker -c 'sleep 98765' lab/box:1
END
chown "$A:" "$HA/job.pbs"
by "$A" "qsub job.pbs" >/dev/null
asleep() { pgrep -u "$A" -f '^sleep 98765'; }
settles "the second container runs" asleep
like "a container in a job has the job's cards, counted from 0, and is in its group" "$(tr '\n' ' ' <"$HA/dj.o1")" '^outside [0-3],[0-3] inside 0,1 [1-9][0-9]* status 5 $'
cards() { kubectl get node g102 -o json | jq -r '[.metadata.annotations | to_entries[] | select(.key | test("gpu-[0-9]")) | .value] | map(select(. == "free")) | length'; }
is "and takes none of its own" "$(cards)" 2
like "the queue does not count it" "$(kubectl get pods -A -l app.kubernetes.io/name=startdocker -o json | jq -c '.items[0] | [.spec.nodeName, .metadata.labels["stoker.dev/queue"], .metadata.ownerReferences[0].name]')" '^\["g102",null,"1-0"\]$'
host=$(kubectl get pods -n "$A" 1-0 -o json | jq -r .metadata.name)
like "another user is not let in" "$(su "$B" -c "curl -sS --unix-socket $SOCKET -X POST http://localhost/api/v1/namespaces/$B/pods -H 'Content-Type: application/json' -d '{\"metadata\":{\"name\":\"x\",\"annotations\":{\"stoker.dev/in-job\":\"$host\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"lab/box:1\"}]}}'")" 'there is no such pod'
kubectl create -n "$A" -f - >/dev/null 2>&1 <<<'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"plain"},"spec":{"containers":[{"name":"c","image":"lab/box:1","command":["sleep","1"]}]}}'
try() { su "$A" -c "curl -sS --unix-socket $SOCKET -X POST http://localhost/api/v1/namespaces/$A/pods -H 'Content-Type: application/json' -d '{\"metadata\":{\"name\":\"x\",\"annotations\":{\"stoker.dev/in-job\":\"$1\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"lab/box:1\"${2-}}]}}'"; }
like "what is no job is none" "$(try plain)" 'it is no process of a PBS job'
like "a part of a job has no room of its own" "$(try "$host" ',"resources":{"limits":{"nvidia.com/gpu":"1"}}')" 'resources must be left out'
kubectl delete -n "$A" pod plain --now >/dev/null
pid=$(asleep)
by "$A" 'qdel 1' >/dev/null
gone() { [ ! -e "/proc/$pid" ] && ! pgrep -u "$A" >/dev/null && [ "$(cards)" = 4 ]; }
settles "qdel ends the container; nothing is alive and the cards are free" gone
settles "its pod goes with the job's" clean

# A queue whose programs belong into containers.
kubectl create -f - >/dev/null <<<'{"apiVersion":"stoker.dev/v1","kind":"Queue","metadata":{"name":"boxes"},"spec":{"containers":"required"}}'
cat >"$HA/boxed.pbs" <<-END
	#PBS -N boxed
	#PBS -j oe
	#PBS -q boxes
	PATH=$BIN:\$PATH
	echo script; date +%Y | wc -l
	perl -e 'print "no\n"'; echo \$?
	./ok.sh; echo \$?
	startdocker -c 'sh ok.sh' -u "-w $HA" lab/box:1; echo \$?
	pbsdsh perl -e 'print "no\n"'; echo \$?
	exit 126
END
chown "$A:" "$HA/boxed.pbs"
by "$A" "qsub boxed.pbs" >/dev/null
boxed() { [ "$(grep -c '^126' "$HA/boxed.o2")" = 3 ]; }
settles "a job of such a queue ends" boxed
is "its script runs small tools and containers, and nothing else" "$(sed 's/.*\(perl\|ok.sh\).*: Permission denied/\1: no/' "$HA/boxed.o2")" "script
1
perl: no
126
ok.sh: no
126
hi ok.sh
0
perl: no
126"
told() { by "$A" 'qstat -f 2' | tr -d '\n\t' | grep -q 'comment = .*queue boxes has containers = required .*startdocker'; }
settles "and the job says why" told
kubectl annotate -n "$A" pod 2-0 --as "$A" --overwrite stoker.dev/containers=allowed >/dev/null 2>&1
is "which its user cannot change" "$(kubectl get -n "$A" pod 2-0 -o json | jq -r '.metadata.annotations["stoker.dev/containers"]')" required

# Several nodes.
cat >"$HA/many.pbs" <<-END
	#PBS -N many
	#PBS -j oe
	#PBS -l nodes=2:ppn=2
	PATH=$BIN:\$PATH
	pbsdsh sh -c 'echo \$PBS_NODENUM \$PBS_VNODENUM \$PBS_TASKNUM' | sort
	pbsdsh -u pwd
	pbsdsh -n 3 sh -c 'echo only \$PBS_VNODENUM; exit 4'; echo \$?
	pbsdsh -h nowhere true; echo \$?
	X=1 pbsdsh -c 1 -e X sh -c 'echo x=\$X'
	mpirun --hostfile \$PBS_NODEFILE -np 4 --mca plm_rsh_agent "$BIN/pbsdsh -h" sh -c 'echo rank \$OMPI_COMM_WORLD_RANK' | sort
	echo done
END
chown "$A:" "$HA/many.pbs"
by "$A" "qsub many.pbs" >/dev/null
finished() { grep -qs '^done' "$HA/many.o3"; }
settles "a job of two nodes ends" finished
ranks='rank 0
rank 1
rank 2
rank 3
'
command -v mpirun >/dev/null || ranks="$(grep mpirun: "$HA/many.o3")
"
is "pbsdsh runs programs on slots, hosts and for mpirun" "$(cat "$HA/many.o3")" "0 0 2
0 1 3
1 2 4
1 3 5
$HA
only 3
4
pbsdsh: host nowhere is not one of this job's
1
x=1
${ranks}done"

# A job whose whole script is in an image.
cat >"$HA/whole.pbs" <<-END
	#PBS -N whole -j oe -l nodes=1:gpus=1:g102,image=lab/box:1
	cat \$PBS_NODEFILE
	cat \$PBS_GPUFILE
	ls /bin/busybox
	echo in \$PWD as \$(id -u) with \$CUDA_VISIBLE_DEVICES
	touch \$HOME/whole
	exit 4
END
chown "$A:" "$HA/whole.pbs"
by "$A" "qsub whole.pbs" >/dev/null
settles "the whole script in an image ends" grep -qs '^in ' "$HA/whole.o4"
like "it has its files, its home, its card and its user there" "$(tr '\n' ' ' <"$HA/whole.o4")" \
	"^g102 g102-gpu[0-3] /bin/busybox in $HA as $(id -u "$A") with 0 \$"
exited() { [ "$(by "$A" 'qstat -f -1 4' | sed -n 's/^    exit_status = //p')" = 4 ]; }
settles "and its exit status" exited
is "what it makes at home is the user's" "$(stat -c %U "$HA/whole")" "$A"

# A server that is killed or stopped, and another: containers go on, and who waits for them does not notice.
# Each prints a line on both streams whenever the next file is there, the second one while there is no server.
steps='for i in 1 2 3; do until [ -e $HOME/$0$i ]; do usleep 20000; done; echo $0$i; echo E$0$i >&2; done; exit'
cat >"$HA/away.pbs" <<-END
	#PBS -N away
	PATH=$BIN:\$PATH
	startdocker -c "sh -c '$steps 4' a" lab/box:1
	echo status \$?
	startdocker -c "sh -c '$steps 6' b" lab/box:1
	echo status \$?
	until [ -e c1 ]; do sleep .05; done
	startdocker -c "echo c1" lab/box:1
	echo status \$?
	exit 3
END
sed -i 's/\$\(0\|i\|HOME\)/\\$\1/g' "$HA/away.pbs"
chown "$A:" "$HA/away.pbs"
by "$A" "qsub away.pbs" >/dev/null
step() { touch "$HA/$1" && eventually 60 grep -q "^$1" "$HA/away.o5"; }
for way in a:9 b:TERM; do
	ok "a line of the container, ${way#*:}" step "${way%:*}1"
	kill -"${way#*:}" "$SERVER_PID"
	wait "$SERVER_PID" 2>/dev/null
	touch "$HA/${way%:*}2"
	begin || done_testing
	ok "a line after the new server's start, ${way#*:}" step "${way%:*}3"
done
settles "the second container has ended" grep -qs 'status 6' "$HA/away.o5"
kill -9 "$SERVER_PID"
wait "$SERVER_PID" 2>/dev/null
# The others may have been too slow to notice that there was none.
told=$(grep -c 'waits for the server' "$HA/away.e5")
touch "$HA/c1"
waits() { [ "$(grep -c 'waits for the server' "$HA/away.e5")" -gt "$told" ]; }
settles "one that finds no server waits for it" waits
begin || done_testing
settles "the job ends" grep -qs 'status 0' "$HA/away.o5"
is "no line is lost or doubled, and the statuses are the containers'" "$(cat "$HA/away.o5")" "$(printf 'a1\na2\na3\nstatus 4\nb1\nb2\nb3\nstatus 6\nc1\nstatus 0')"
is "nor on the other stream" "$(grep -v '^startdocker: waits for the server: ' "$HA/away.e5")" "$(printf 'Ea1\nEa2\nEa3\nEb1\nEb2\nEb3')"
away() { [ "$(by "$A" 'qstat -f -1 5' | sed -n 's/^    exit_status = //p')" = 3 ]; }
settles "the job's exit status is its own" away
settles "nothing is left of the containers" clean

kubectl create -f - >/dev/null <<<'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"startdocker-left","annotations":{"stoker.dev/ttl-seconds-after-finished":"0"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"lab/box:1","command":["true"]}]}}'
settles "a pod that nobody waits for any more goes when its time has come" clean

# The node has told of its images at its last start.
images() { by "$A" "$STOKER image list" | grep -qE '^g102 +[0-9.]+MB  docker.io/lab/box:1$'; }
settles "users see which images there are, though not the store" images
loaded() { by "$A" pbsnodes | grep -qE ',availmem=[0-9]+kb,.*,loadave=[0-9.]+,'; }
settles "and how busy nodes are" loaded

# Parts of a job on one machine have each other's cards, in containers too.
by "$A" 'echo "echo has \$CUDA_VISIBLE_DEVICES" | qsub -N parts -j oe -l nodes=2:gpus=1,image=lab/box:1' >/dev/null
settles "two parts in an image have the cards of both" grep -qs '^has 0,1$' "$HA"/parts.o6
by "$A" "echo \"$BIN/startdocker -c 'sh -c \\\"echo has \\\\\\\$CUDA_VISIBLE_DEVICES\\\"' lab/box:1\" | qsub -N both -j oe -l nodes=2:gpus=1" >/dev/null
settles "and so has what startdocker runs in such a job" grep -qs '^has 0,1$' "$HA"/both.o7

is "outside of jobs there is nowhere to run" "$(by "$A" 'pbsdsh date')" "pbsdsh: not executing under PBS
status 1"
done_testing
