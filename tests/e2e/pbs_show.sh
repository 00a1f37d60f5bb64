#!/bin/bash
# The PBS commands that show things: qstat in all its forms, qselect, pbsnodes, tracejob and the site's own tools.
# Jobs are made and their states written by an admin, so that every byte is known.
. "$(dirname "$0")/lib.sh"
server_start main --no-controllers
export PATH=$(dirname "$STOKER")/bin:$PATH STOKER_SOCKET=$SOCKET TZ=UTC

patch() { kubectl patch "$@" --type=merge >/dev/null; }
# set_status PATH STATUS: not every kubectl can.
set_status() { api PATCH "$1/status" -H 'Content-Type: application/merge-patch+json' -d "{\"status\":$2}" >/dev/null; }
status() { set_status "/apis/stoker.dev/v1/namespaces/$2/pbsjobs/$1" "$3"; }
# out CODE COMMAND...: what it prints on both, if it exits with the code.
out() {
	local want=$1 got text
	shift
	text=$("$@" 2>&1; echo "rc $?")
	got=${text##*rc }
	text=${text%rc "$got"}
	[ "$got" = "$want" ] || text="exit $got, not $want: $text"
	printf '%s.' "$text" # a newline at the end would be lost
}
# shows SENTENCE CODE EXPECTED COMMAND...
shows() {
	local name=$1 code=$2 want=$3
	shift 3
	is "$name" "$(out "$code" "$@")" "$want."
}

patch pbsserver default -p '{"spec":{"serverName":"Ghead","nextJobNumber":380963,"comment":"closed tonight"}}'
shows "without jobs qstat says nothing" 0 "" qstat
shows "nor does qstat -a" 0 "" qstat -a
shows "XML of nothing is whole" 0 '<?xml version="1.0"?>
<Data></Data>
' qstat -x
shows "without nodes pbsnodes says so" 2 "pbsnodes: No nodes found
" pbsnodes

# ---- nodes
for n in g102 g103; do
	kubectl create -f - >/dev/null <<YAML
apiVersion: v1
kind: Node
metadata:
  name: $n
  labels: {property.stoker.dev/S: "", property.stoker.dev/$n: "", nvidia.com/gpu.product: NVIDIA-GeForce-GTX-1080-Ti}
YAML
	set_status /api/v1/nodes/$n '{
		"capacity":{"cpu":"16","memory":"257821660Ki","nvidia.com/gpu":"8","pods":"110"},
		"allocatable":{"cpu":"16","memory":"257821660Ki","nvidia.com/gpu":"8","pods":"110"},
		"nodeInfo":{"kernelVersion":"5.10.0","architecture":"amd64"},
		"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2021-01-14T01:21:39Z",
			"lastTransitionTime":"2021-01-14T01:21:39Z","reason":"x","message":"x"}]}'
done
kubectl create -f - >/dev/null <<'YAML'
apiVersion: stoker.dev/v1
kind: Queue
metadata: {name: mcc}
spec: {maxWalltime: "1000:00:00", resourcesMax: {nodect: "8"}, limits: {total: {running: 8}}}
YAML

# ---- jobs
kubectl create ns games >/dev/null && kubectl create ns news >/dev/null
# post OWNER SPEC: its number is the next.
post() {
	curl -sf --unix-socket "$SOCKET" -H 'Content-Type: application/json' -o /dev/null \
		"http://x/apis/stoker.dev/v1/namespaces/$1/pbsjobs" -d "{\"apiVersion\":\"stoker.dev/v1\",\"kind\":\"PBSJob\",
		\"metadata\":{},\"spec\":{\"script\":\"date\\n\",\"owner\":\"$1\",\"submitHost\":\"gwork\",$2}}"
}
post games '"name":"testjob","queue":"batch","resources":{"nodes":"1:gpus=1:S","walltime":"168:00:00"},
	"outputPath":"gwork:/ghome/games/$PBS_JOBID.out","errorPath":"gwork:/ghome/games/$PBS_JOBID.err","submitArgs":"myjob.pbs",
	"env":{"PBS_O_QUEUE":"batch","PBS_O_HOME":"/ghome/games","PBS_O_LOGNAME":"games","PBS_O_HOST":"gwork","PBS_O_WORKDIR":"/ghome/games"}'
post news '"name":"a_very_long_job_name_for_the_table","queue":"mcc","priority":5,
	"resources":{"nodes":"1:gpus=2:S","walltime":"300:00:00","mem":"64gb"}'
post games '"name":"sweep","queue":"batch","array":{"request":"0-2"},"resources":{"nodes":"1"}'
status 380963 games '{"state":"R","execHost":"g102/0","execGpus":"g102-gpu/6","sessionId":24211,"egroup":"games",
	"comment":"Job started on Wed Mar 27 at 20:34","startCount":1,
	"resourcesUsed":{"cput":"00:00:07","vmem":"335048kb","walltime":"00:41:09","mem":"5640kb"}}'

head_plain='Job ID                    Name             User            Time Use S Queue
------------------------- ---------------- --------------- -------- - -----
'
row1='380963.Ghead               testjob          games           00:00:07 R batch          
'
row2='380964.Ghead               ...for_the_table news                   0 Q mcc            
'
row3='380965[].Ghead             sweep            games                  0 Q batch          
'
shows "qstat shows all jobs" 0 "$head_plain$row1$row2$row3" qstat
shows "a job by its number" 0 "$head_plain$row2" qstat 380964
shows "or by its whole id, several under one header" 0 "$head_plain$row2$row1" qstat 380964.Ghead 380963
shows "an array by its brackets" 0 "$head_plain$row3" qstat '380965[]'
shows "jobs of a queue" 0 "$head_plain$row2" qstat mcc
shows "jobs of the server" 0 "$head_plain$row1$row2$row3" qstat @Ghead
shows "elements of arrays with -t" 0 "$head_plain${row1}${row2}380965[0].Ghead            sweep-0          games                  0 Q batch          
380965[1].Ghead            sweep-1          games                  0 Q batch          
380965[2].Ghead            sweep-2          games                  0 Q batch          
" qstat -t
shows "one element by its id" 0 "${head_plain}380965[1].Ghead            sweep-1          games                  0 Q batch          
" qstat '380965[1]'
shows "an unknown id is told after the rows, exit 153" 153 "$head_plain${row1}qstat: Unknown Job Id Error 999.Ghead
" qstat 999 380963
shows "no id at all" 1 "qstat: illegally formed job identifier: 12x
" qstat 12x
shows "an unknown queue" 172 "qstat: Unknown queue nosuch
" qstat nosuch

head_wide="
Ghead: closed tonight
                                                                                  Req'd       Req'd       Elap
Job ID                  Username    Queue    Jobname          SessID  NDS   TSK   Memory      Time    S   Time
----------------------- ----------- -------- ---------------- ------ ----- ------ --------- --------- - ---------
"
wide1='380963.Ghead            games       batch    testjob           24211     1      1       --  168:00:00 R  00:41:09'
wide2='380964.Ghead            news        mcc      a_very_long_job_    --      1      1      64gb 300:00:00 Q       -- '
shows "-a is Torque 6's" 0 "$head_wide$wide1
$wide2
380965[].Ghead          games       batch    sweep               --      1      1       --        --  Q       -- 
" qstat -a
shows "-u shows a user's" 0 "$head_wide$wide2
" qstat -u news
shows "-r shows what runs, -n where" 0 "$head_wide$wide1
   g102/0
" qstat -rn
shows "-n -1 on the same line" 0 "$head_wide$wide1   g102/0
" qstat -n -1 -r
shows "-i shows what waits, -s why" 0 "$head_wide$wide2
    -- 
" qstat -is -u news
shows "-G rounds to gigabytes" 0 "$head_wide$wide2
" qstat -aG mcc
patch pbsserver default -p '{"spec":{"qstatLayout":4,"comment":null}}'
like "Torque 4's columns if the server says so" "$(qstat -u news)" '^380964.Ghead            news        mcc      a_very_long_job_    --      1      1   64gb 300:00:00 Q       -- $'
patch pbsserver default -p '{"spec":{"qstatLayout":6}}'

shows "-q shows queues and sums" 0 '
server: Ghead

Queue            Memory CPU Time Walltime Node  Run Que Lm  State
---------------- ------ -------- -------- ----  --- --- --  -----
batch              --      --       --      --    1   3 --   E R
mcc                --      --    1000:00:     8   0   1  8   E R
                                               ----- -----
                                                   1     4
' qstat -q
shows "-Q one queue" 0 'Queue              Max    Tot   Ena   Str   Que   Run   Hld   Wat   Trn   Ext T   Cpt
----------------   ---   ----    --    --   ---   ---   ---   ---   ---   --- -   ---
mcc                  8      1   yes   yes     1     0     0     0     0     0 E     0
' qstat -Q mcc
shows "-B the server" 0 'Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext   Com Status    
----------------   ---   ---   ---   ---   ---   ---   ---   ---   --- ----------
Ghead                0     5     4     1     0     0     0     0     0 Active    
' qstat -B
like "-Qf lists a queue's attributes" "$(qstat -Qf mcc)" '^    resources_max.walltime = 1000:00:00$'
like "-Bf the server's" "$(qstat -Bf)" '^    default_queue = batch$'

shows "-f is Torque's, folded" 0 'Job Id: 380963.Ghead
    Job_Name = testjob
    Job_Owner = games@gwork
    resources_used.cput = 00:00:07
    resources_used.vmem = 335048kb
    resources_used.walltime = 00:41:09
    resources_used.mem = 5640kb
    job_state = R
    queue = batch
    server = Ghead
    Checkpoint = u
    Error_Path = gwork:/ghome/games/$PBS_JOBID.err
    exec_host = g102/0
    exec_gpus = g102-gpu/6
    Hold_Types = n
    Join_Path = n
    Keep_Files = n
    Mail_Points = a
    Output_Path = gwork:/ghome/games/$PBS_JOBID.out
    Priority = 0
    Rerunable = True
    Resource_List.nodect = 1
    Resource_List.nodes = 1:gpus=1:S
    Resource_List.walltime = 168:00:00
    session_id = 24211
    Variable_List = PBS_O_QUEUE=batch,PBS_O_HOME=/ghome/games,
	PBS_O_LOGNAME=games,PBS_O_HOST=gwork,PBS_O_WORKDIR=/ghome/games
    euser = games
    egroup = games
    comment = Job started on Wed Mar 27 at 20:34
    submit_args = myjob.pbs
    start_count = 1
    submit_host = gwork
    Walltime.Remaining = 602331

' sh -c "qstat -f 380963 | grep -v '^    [cmqe]time = '"
like "-f -1 folds nothing" "$(qstat -f -1 380963)" 'PBS_O_WORKDIR=/ghome/games$'
ok "qstat -f -x ID exits 0" qstat -f -x 380963
like "XML nests resources and has times as seconds" "$(qstat -x 380963)" \
	'^<Data><Job><Job_Id>380963.Ghead</Job_Id><Job_Name>testjob</Job_Name>.*<ctime>[0-9]+</ctime>.*<Resource_List><nodect>1</nodect><nodes>1:gpus=1:S</nodes><walltime>168:00:00</walltime></Resource_List>.*</Job></Data>$'
is "-F json is keyed by id" "$(qstat -f -F json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["pbs_server"], d["Jobs"]["380963.Ghead"]["Variable_List"]["PBS_O_HOST"])')" "Ghead gwork"
is "conflicting options are refused" "$(qstat -f -a 2>&1 | head -2) $(qstat -aG -M 2>&1 | head -2)" "qstat: conflicting options.
 -f incompatible with one or more options. Read qstat man page qstat: conflicting options.
$(qstat --help | head -1)"
qstat -1 >/dev/null 2>&1
is "with exit status 2" $? 2

status 380963 games '{"state":"C","exitStatus":0}'
is "completed jobs are shown until the environment says no" "$(qstat | wc -l) $(PBS_QSTAT_NO_COMPLETE=1 qstat | wc -l)" "5 4"
status 380963 games '{"state":"R","exitStatus":null}'

# ---- qselect
is "qselect by user and state" "$(qselect -u games -s R) $(qselect -s QW | tr '\n' ' ')" "380963.Ghead 380964.Ghead 380965[].Ghead "
is "by resources and priority" "$(qselect -l walltime.gt.200:00:00) $(qselect -l mem.eq.65536mb) $(qselect -p .ge.5) $(qselect -r n)" "380964.Ghead 380964.Ghead 380964.Ghead "

# ---- pbsnodes
shows "pbsnodes writes a node" 0 'g102
     state = free
     power_state = Running
     np = 16
     properties = S
     ntype = cluster
     jobs = 0/380963.Ghead
     status = opsys=linux,uname=Linux g102 5.10.0 amd64,nsessions=1,nusers=1,totmem=257821660kb,physmem=257821660kb,ncpus=16,gres=,state=free,varattr= ,version=6.1.3,rectime=1610587299,jobs=380963.Ghead
     mom_service_port = 15002
     mom_manager_port = 15003
     gpus = 8

' pbsnodes g102
is "all of them by -a, or by a property" "$(pbsnodes -a | grep -c gpus) $(pbsnodes :S | grep -c gpus) $(pbsnodes :g103 | head -1)" "2 2 g103"
like "XML on one line" "$(pbsnodes -x)" '^<Data><Node><name>g102</name><state>free</state>.*<properties>S</properties>.*<gpus>8</gpus></Node><Node>.*</Data>$'
shows "-o takes a node out of use, with a note" 0 "" pbsnodes -o -N 'new fan' g103
shows "-l lists what is out of use" 0 "g103                 offline
" pbsnodes -l
shows "-ln with notes" 0 "g103                 offline                    new fan
" pbsnodes -ln
is "kubectl knows it too" "$(kubectl get node g103 -o jsonpath='{.spec.unschedulable}')" true
shows "-l active" 0 "g102                 free
" pbsnodes -l active
pbsnodes -c -N "" g103
shows "-c takes it back" 0 "" pbsnodes -ln
shows "an unknown node" 1 "pbsnodes: Unknown node  MSG=cannot locate specified node
" pbsnodes -o g999

# ---- the site's tools
is "fields of chk_gpu's jobs are where scripts look" "$(chk_gpu games | awk '$1 == 380963 { print $1, $3, $4, $7, $9 }')" "380963 testjob 1:gpus=1:S R g102-gpu/6"
like "cards in use are crossed" "$(chk_gpu | grep '[1-9][0-9][0-9](S)' | head -1)" '^102\(S\):	(\[ \]){6}\[x\]\[ \]$'
like "by model" "$(chk_gpu)" '^--1080Ti--  Valid type:  1:S  ----$'
is "jobs are counted" "$(chk_gpu | tail -1)" "Total 5 jobs."
like "chk_gpuused heads with the node" "$(chk_gpuused g102)" '^====Node g102====$'
shows "chk_gpuused of no node" 1 "chk_gpuused: there is no node g999
" chk_gpuused g999
like "chk_res adds up by user" "$(chk_res)" '^root +[0-9]+ +[0-9.]+ +[0-9]+$'
# Which node is this machine: the Node tells of the kernel that runs here.
nothing=$(PATH=$(dirname "$STOKER")/bin; chk_gpuused 2>&1 || echo "rc $?") # without nvidia-smi
is "chk_gpuused where no node is this machine" "$nothing" "chk_gpuused: nvidia-smi cannot be run here, and no server knows this machine as a node
rc 1"
for c in chk_res k_log; do
	like "$c of another machine says so" "$(out 1 $c G103)" "^$c: G103 is another machine than this one \(.*\), and servers tell nothing of the kind: run $c there"
	shows "$c of no node" 1 "$c: there is no node g999
" $c g999
done
set_status /api/v1/nodes/g103 "{\"nodeInfo\":{\"bootID\":\"$(cat /proc/sys/kernel/random/boot_id)\"}}"
like "chk_res by the node's own name" "$(chk_res G103)" '^root +[0-9]+ +[0-9.]+ +[0-9]+$'
like "and by the host's" "$(chk_res "$(hostname)")" '^root +[0-9]+ +[0-9.]+ +[0-9]+$'
like "chk_res of one user has the processes" "$(chk_res G103 root)" '^root +[0-9]+ +[0-9.]+ +[0-9]+  [^ ]'
is "k_log by the node's own name" "$(k_log G103 2>&1 | head -n 1 | sed 's/^k_log: .dev.kmsg: .*/====Node G103====/')" "====Node G103===="
like "chk_gpuused without a name is this machine's" "$(chk_gpuused)" '^====Node g103====$'
like "dockerlog of a job that has not started" "$(dockerlog 380964 2>&1)" '^dockerlog: job 380964.Ghead has not started \(state Q\)$'
like "tracejob tells its life" "$(tracejob 380963)" '^[0-9/]{10} [0-9:]{8}  S    Job Queued at request of games@gwork, owner = games@gwork, job name = testjob, queue = batch$'
is "accounts that are not there" "$(out 153 tracejob -p "$T/none" 7)" "tracejob: $T/none/accounting/pbs: No such file or directory
tracejob: Unknown Job Id Error 7
."
for c in qstat pbsnodes qselect tracejob chk_gpu chk_gpuused chk_res k_log dockerlog getallreposimages get_report rpt_detail; do
	$c --help | grep -q "^usage: $c" && $c --version 2>&1 | grep -q '^Version: ' || fail "$c --help and --version"
done
pass "all have --help and --version"

# ---- images: those of the nodes, or of a registry that is here for the test
set_status /api/v1/nodes/g102 '{"images":[{"names":["lab/z:1","lab/z@sha256:00"],"sizeBytes":1},{"names":["lab/a:2"],"sizeBytes":1}]}'
shows "without a registry images are those of the nodes" 0 "lab/a:2
lab/z:1
" getallreposimages
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
patch pbsserver default -p "{\"spec\":{\"registry\":\"127.0.0.1:$port\"}}"
like "a registry that is not there" "$(out 1 getallreposimages)" "^getallreposimages: the registry 127.0.0.1:$port does not answer: .*[Rr]efused|does not answer: .*connect"
printf "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: $T/registry}}\nhttp: {addr: '127.0.0.1:$port'}\n" >"$T/registry.yml"
docker-registry serve "$T/registry.yml" >"$T/registry.log" 2>&1 &
PIDS+=($!)
ok "docker-registry answers" eventually 30 curl -sf "http://127.0.0.1:$port/v2/"
shows "an empty one has none" 0 "" getallreposimages
echo '{}' >"$T/config"
mkdir "$T/dir" && cp "$T/config" "$T/dir/$(sha256sum <"$T/config" | cut -c1-64)"
printf '{"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json","config":{"mediaType":"application/vnd.docker.container.image.v1+json","size":3,"digest":"sha256:%s"},"layers":[]}' "$(sha256sum <"$T/config" | cut -c1-64)" >"$T/dir/manifest.json"
printf 'Directory Transport Version: 1.1\n' >"$T/dir/version"
for i in deepo:latest deepo:9 ana/torch:2; do
	ok "$i is pushed" skopeo --insecure-policy copy -q --dest-tls-verify=false "dir:$T/dir" "docker://127.0.0.1:$port/$i"
done
is "getallreposimages lists the registry's names with their tags" "$(getallreposimages | sort)" "127.0.0.1:$port/ana/torch:2
127.0.0.1:$port/deepo:9
127.0.0.1:$port/deepo:latest"
is "one may name another" "$(getallreposimages "localhost:$port" | wc -l)" 3

# What bash offers.
completes() {
	(. "$ROOT/build/stoker-pbs.bash" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _stoker_pbs && echo "${COMPREPLY[*]}")
}
is "bash completes queues" "$(completes qsub -q bat)" batch
is "nodes" "$(completes chk_gpuused "")" "g102 g103"
like "and jobs" "$(USER=games completes qdel 380)" '(^| )380963\.'
done_testing
