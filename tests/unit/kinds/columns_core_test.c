// SPDX-License-Identifier: Apache-2.0
/* columns_core_test.c - what the tables of core kinds show */
#include "base/clock.h"
#include "core_test.h"

#define NOW 1700000000 /* 2023-11-14T22:13:20Z */

#define RUNNING(name_)    "{'name':'" name_ "','ready':true,'restartCount':0,'state':{'running':{}}}"
#define ENDED(how_)       "{'name':'a','state':{'terminated':{" how_ "}}}"
#define POD(spec_, more_) "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'a'}]" spec_ "}," more_ "}"

TEST("the status of a pod is the one thing to know about it")
{
	static const struct {
		const char *pod, *ready, *status, *restarts;
	} rows[] = {
		{ POD("", "'status':{'phase':'Pending'}"), "0/1", "Pending", "0" },
		{ POD("", "'status':{'phase':'Failed','reason':'Evicted'}"), "0/1", "Evicted", "0" },
		{ POD("", "'status':{'phase':'Running','containerStatuses':[" RUNNING("a") "]}"), "1/1", "Running",
		  "0" },
		{ POD("", "'status':{'phase':'Pending','containerStatuses':[{'name':'a','state':{'waiting':{'reason':"
			  "'ImagePullBackOff'}}}]}"),
		  "0/1", "ImagePullBackOff", "0" },
		{ POD("", "'status':{'phase':'Failed','containerStatuses':[" ENDED("'exitCode':3") "]}"), "0/1",
		  "ExitCode:3", "0" },
		{ POD("", "'status':{'phase':'Failed','containerStatuses':[" ENDED("'exitCode':137,'signal':9") "]}"),
		  "0/1", "Signal:9", "0" },
		{ POD("", "'status':{'phase':'Failed','containerStatuses':[" ENDED(
				  "'exitCode':1,'reason':'OOMKilled'") "]}"),
		  "0/1", "OOMKilled", "0" },
		{ POD("", "'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}],'"
			  "containerStatuses':["
			  "{'name':'z','state':{'terminated':{'exitCode':0,'reason':'Completed'}}}," RUNNING("a") "]}"),
		  "1/1", "Running", "0" },
		{ POD("", "'status':{'phase':'Running','containerStatuses':[{'name':'z','state':{'terminated':{'"
			  "exitCode':0,"
			  "'reason':'Completed'}}}," RUNNING("a") "]}"),
		  "1/1", "NotReady", "0" },
		{ POD("",
		      "'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','reason':'SchedulingGated'}]}"),
		  "0/1", "SchedulingGated", "0" },
		{ POD(",'initContainers':[{'name':'i'},{'name':'j'}]",
		      "'status':{'phase':'Pending','initContainerStatuses':[{'name':'i','state':{'terminated':{'"
		      "exitCode':0}}},"
		      "{'name':'j','state':{'running':{}}}]}"),
		  "0/1", "Init:1/2", "0" },
		{ POD(",'initContainers':[{'name':'i'}]", "'status':{'phase':'Pending','initContainerStatuses':[{'name'"
							  ":'i','restartCount':2,'state':{'waiting':{"
							  "'reason':'CrashLoopBackOff'}},'lastState':{'terminated':{'"
							  "finishedAt':'2023-11-14T22:12:20Z'}}}]}"),
		  "0/1", "Init:CrashLoopBackOff", "2 (60s ago)" },
		{ POD(",'initContainers':[{'name':'i'}]", "'status':{'phase':'Failed','initContainerStatuses':[{'name':"
							  "'i','state':{'terminated':{'exitCode':2}}}]}"),
		  "0/1", "Init:ExitCode:2", "0" },
		{ POD(",'initContainers':[{'name':'i','restartPolicy':'Always'}]",
		      "'status':{'phase':'Running','initContainerStatuses':[{'name':'i','ready':true,'started':true,'"
		      "state':{"
		      "'running':{}}}],'containerStatuses':[" RUNNING("a") "]}"),
		  "2/2", "Running", "0" },
		{ "{'metadata':{'deletionTimestamp':'2023-11-14T22:13:20Z'},'spec':{'containers':[{'name':'a'}]},'"
		  "status':{"
		  "'phase':'Running'}}",
		  "0/1", "Terminating", "0" },
		{ "{'metadata':{'deletionTimestamp':'2023-11-14T22:13:20Z'},'spec':{'containers':[{'name':'a'}]},'"
		  "status':{"
		  "'phase':'Succeeded'}}",
		  "0/1", "Succeeded", "0" },
		{ "{'metadata':{'deletionTimestamp':'2023-11-14T22:13:20Z'},'spec':{'containers':[{'name':'a'}]},'"
		  "status':{"
		  "'phase':'Running','reason':'NodeLost'}}",
		  "0/1", "Unknown", "0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = object(rows[i].pod);

		CHECK_CELL(&kind_pod, pod, "Ready", rows[i].ready);
		CHECK_CELL(&kind_pod, pod, "Status", rows[i].status);
		CHECK_CELL(&kind_pod, pod, "Restarts", rows[i].restarts);
	}
}

TEST("cells of the other kinds")
{
	static const struct {
		const struct kind *kind;
		const char *obj, *column, *want;
	} rows[] = {
		{ &kind_pod, "{'status':{'podIP':'10.0.0.1'}}", "IP", "10.0.0.1" },
		{ &kind_pod, "{}", "Node", "<none>" },
		{ &kind_pod,
		  "{'spec':{'readinessGates':[{'conditionType':'a'},{'conditionType':'b'}]},'status':{'conditions':[{'"
		  "type':"
		  "'a','status':'True'}]}}",
		  "Readiness Gates", "1/2" },
		{ &kind_pod, "{'metadata':{'creationTimestamp':'2023-11-14T22:08:20Z'}}", "Age", "5m" },
		{ &kind_pod, "{}", "Age", "<unknown>" },
		{ &kind_service,
		  "{'spec':{'ports':[{'port':80,'protocol':'TCP'},{'port':53,'nodePort':30053,'protocol':"
		  "'UDP'}]}}",
		  "Port(s)", "80/TCP,53:30053/UDP" },
		{ &kind_service, "{'spec':{}}", "Port(s)", "<none>" },
		{ &kind_service, "{'spec':{'clusterIP':'None'}}", "Cluster-IP", "None" },
		{ &kind_service, "{'spec':{'type':'LoadBalancer'}}", "External-IP", "<pending>" },
		{ &kind_service, "{'spec':{'type':'ExternalName','externalName':'a.b'}}", "External-IP", "a.b" },
		{ &kind_service, "{'spec':{'externalIPs':['1.1.1.1','2.2.2.2']}}", "External-IP", "1.1.1.1,2.2.2.2" },
		{ &kind_service, "{'spec':{'selector':{'b':'2','a':'1'}}}", "Selector", "a=1,b=2" },
		{ &kind_endpoints, "{}", "Endpoints", "<none>" },
		{ &kind_endpoints,
		  "{'subsets':[{'addresses':[{'ip':'1.1.1.1'},{'ip':'::2'},{'ip':'3.3.3.3'},{'ip':'4.4.4.4'}],'ports':["
		  "{"
		  "'port':80}]}]}",
		  "Endpoints", "1.1.1.1:80,[::2]:80,3.3.3.3:80 + 1 more..." },
		{ &kind_node, "{}", "Status", "Unknown" },
		{ &kind_node,
		  "{'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready','status':'True'}]}}",
		  "Status", "Ready,SchedulingDisabled" },
		{ &kind_node, "{'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}", "Status", "NotReady" },
		{ &kind_node,
		  "{'metadata':{'labels':{'node-role.kubernetes.io/worker':'','node-role.kubernetes.io/gpu':'',"
		  "'kubernetes.io/role':'gpu'}}}",
		  "Roles", "gpu,worker" },
		{ &kind_node, "{}", "Roles", "<none>" },
		{ &kind_node, "{'status':{'addresses':[{'type':'InternalIP','address':'10.1.1.1'}]}}", "Internal-IP",
		  "10.1.1.1" },
		{ &kind_namespace, "{'status':{'phase':'Active'}}", "Status", "Active" },
		{ &kind_event, "{'involvedObject':{'kind':'Pod','name':'x'}}", "Object", "pod/x" },
		{ &kind_event, "{'eventTime':'2023-11-14T22:13:10.000000Z'}", "Last Seen", "10s" },
		{ &kind_event,
		  "{'lastTimestamp':'2023-11-14T22:13:10Z','series':{'count':4,'lastObservedTime':"
		  "'2023-11-14T22:13:15.5Z'}}",
		  "Last Seen", "5s" },
		{ &kind_event, "{}", "Count", "1" },
		{ &kind_event, "{'series':{'count':4}}", "Count", "4" },
		{ &kind_event, "{'source':{'component':'kubelet','host':'n'}}", "Source", "kubelet, n" },
		{ &kind_event, "{'message':' hi \\n'}", "Message", "hi" },
		{ &kind_config_map, "{'data':{'a':'','b':''},'binaryData':{'c':''}}", "Data", "3" },
		{ &kind_secret, "{'type':'Opaque','data':{'a':''}}", "Data", "1" },
		{ &kind_service_account, "{}", "Secrets", "0" },
		{ &kind_pvc, "{'spec':{'resources':{'requests':{'storage':'1Gi'}}},'status':{'phase':'Pending'}}",
		  "Capacity", "" },
		{ &kind_pvc, "{'spec':{'volumeName':'v'},'status':{'capacity':{'storage':'1Gi'}}}", "Capacity", "1Gi" },
		{ &kind_pvc, "{'spec':{'volumeName':'v'},'status':{'accessModes':['ReadWriteMany','ReadWriteOnce']}}",
		  "Access Modes", "RWO,RWX" },
		{ &kind_pvc, "{'metadata':{'deletionTimestamp':'x'}}", "Status", "Terminating" },
		{ &kind_pvc, "{}", "VolumeAttributesClass", "<unset>" },
		{ &kind_pv, "{'spec':{'claimRef':{'namespace':'n','name':'c'}}}", "Claim", "n/c" },
		{ &kind_resource_quota,
		  "{'status':{'hard':{'pods':'10','cpu':'2','limits.cpu':'4'},'used':{'pods':'1','cpu':'500m','limits."
		  "cpu':"
		  "'1'}}}",
		  "Request", "cpu: 500m/2, pods: 1/10" },
		{ &kind_resource_quota, "{'status':{'hard':{'limits.cpu':'4'},'used':{'limits.cpu':'1'}}}", "Limit",
		  "limits.cpu: 1/4" },
		{ &kind_replication_controller, "{'spec':{'replicas':3}}", "Desired", "3" },
		{ &kind_replication_controller,
		  "{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'i'},{'name':'b','image':'j'}]}}}}",
		  "Images", "i,j" },
		{ &kind_limit_range, "{'metadata':{'creationTimestamp':'2023-11-14T22:13:20Z'}}", "Created At",
		  "2023-11-14T22:13:20Z" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = object(rows[i].obj);

		CHECK_CELL(rows[i].kind, obj, rows[i].column, rows[i].want);
	}
}
