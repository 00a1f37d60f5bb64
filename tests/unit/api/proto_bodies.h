// SPDX-License-Identifier: Apache-2.0
/* proto_bodies.h - request bodies as kubectl 1.32 sent them, and the same objects as it prints them
 *
 * From `kubectl create X` and `kubectl create X --dry-run=client -o json`, nulls and a status of zeros left out; a few
 * more made by hand for what kubectl does not send.
 */
#ifndef STOKER_TEST_PROTO_BODIES_H
#define STOKER_TEST_PROTO_BODIES_H

static const struct {
	const char *name, *hex, *json;
} proto_bodies[] = {
	{ "clusterrole-cr1",
	  "6b3873000a2b0a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f7631120b436c7573746572"
	  "526f6c6512210a130a0363723112001a0022002a003200380042001a0a0a080a060a01611201621a002200",
	  "{\"kind\":\"ClusterRole\",\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"metadata\":{\"name\":\"cr1\""
	  "},\"aggregationRule\":{\"clusterRoleSelectors\":[{\"matchLabels\":{\"a\":\"b\"}}]}}" },
	{ "clusterrole-cr2",
	  "6b3873000a2b0a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f7631120b436c7573746572"
	  "526f6c6512250a130a0363723212001a0022002a00320038004200120e0a036765742a072f6c6f67732f2a1a00"
	  "2200",
	  "{\"kind\":\"ClusterRole\",\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"metadata\":{\"name\":\"cr2\""
	  "},\"rules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/logs/*\"]}]}" },
	{ "clusterrolebinding-crb1",
	  "6b3873000a320a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f76311212436c7573746572"
	  "526f6c6542696e64696e67126d0a140a046372623112001a0022002a0032003800420012260a04557365721219"
	  "726261632e617574686f72697a6174696f6e2e6b38732e696f1a017522001a2d0a19726261632e617574686f72"
	  "697a6174696f6e2e6b38732e696f120b436c7573746572526f6c651a036372311a002200",
	  "{\"kind\":\"ClusterRoleBinding\",\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"metadata\":{\"name"
	  "\":\"crb1\"},\"subjects\":[{\"kind\":\"User\",\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"u\"}],\""
	  "roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"cr1\"}}" },
	{ "cm-c1",
	  "6b3873000a0f0a0276311209436f6e6669674d617012270a120a02633112001a0022002a003200380042001206"
	  "0a016112016212090a05656d70747912001a002200",
	  "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c1\"},\"data\":{\"a\":\"b\","
	  "\"empty\":\"\"}"
	  "}" },
	{ "crd-schema",
	  "6b3873000a330a17617069657874656e73696f6e732e6b38732e696f2f76311218437573746f6d5265736f7572"
	  "6365446566696e6974696f6e12bc020a0a0a0877732e652e6f726712ad020a05652e6f72671a070a0277732201"
	  "57220a4e616d657370616365643a8e020a0276311001180122ff010afc012a066f626a656374ea01f0010a0473"
	  "70656312e7012a066f626a656374ea01270a016e12222a07696e746567657259000000000000f03f4900000000"
	  "00000440500042030a0132ea011f0a0173121a2a06737472696e67a201050a03226122a201050a032262226800"
	  "ea01330a016c122e2a056172726179c2011a0a182a066f626a656374ea010d0a016b12082a06737472696e67ca"
	  "02016bd202036d6170ea011c0a016d12172a066f626a656374f2010c080112082a06737472696e67ea01120a01"
	  "61120d2a066f626a656374f201020801ea011f0a0170121ac00201da01092a07696e7465676572da01082a0673"
	  "7472696e67ba01016eb002012a020a001a002200",
	  "{\"kind\":\"CustomResourceDefinition\",\"apiVersion\":\"apiextensions.k8s.io/v1\",\"metadata\":{\"nam"
	  "e\":\"ws.e.org\"},\"spec\":{\"group\":\"e.org\",\"names\":{\"plural\":\"ws\",\"kind\":\"W\"},\"scope\":"
	  "\"Namespa"
	  "ced\",\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"t"
	  "ype\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\","
	  "\"m"
	  "inimum\":1,\"maximum\":2.5,\"default\":2},\"s\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"],\"maxLength\":0}"
	  ","
	  "\"l\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\"}}},\"x-"
	  "kube"
	  "rnetes-list-map-keys\":[\"k\"],\"x-kubernetes-list-type\":\"map\"},\"m\":{\"type\":\"object\",\"addition"
	  "alProperties\":{\"type\":\"string\"}},\"a\":{\"type\":\"object\",\"additionalProperties\":true},\"p\":{\"x"
	  "-kubernetes-int-or-string\":true,\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}},\"required"
	  "\":[\"n\"],\"x-kubernetes-preserve-unknown-fields\":true}}}},\"subresources\":{\"status\":{}}}]}}" },
	{ "cronjob-cj1",
	  "6b3873000a130a0862617463682f7631120743726f6e4a6f6212a7010a130a03636a3112001a0022002a003200"
	  "38004200128d010a0b2a2f35202a202a202a202a1a002a7c0a130a03636a3112001a0022002a00320038004200"
	  "126532630a100a0012001a0022002a00320038004200124f12280a03636a31120762757379626f781a04646174"
	  "652a0042006a007200800100880100900100a201001a094f6e4661696c757265320042004a0052005800600068"
	  "008201008a01009a0100c201001a001a002200",
	  "{\"kind\":\"CronJob\",\"apiVersion\":\"batch/"
	  "v1\",\"metadata\":{\"name\":\"cj1\"},\"spec\":{\"schedule\":\"*/"
	  "5 * * * *\",\"jobTemplate\":{\"metadata\":{\"name\":\"cj1\"},\"spec\":{\"template\":{\"metadata\":{},\"spe"
	  "c\":{\"containers\":[{\"name\":\"cj1\",\"image\":\"busybox\",\"command\":[\"date\"],\"resources\":{}}],\"res"
	  "tartPolicy\":\"OnFailure\"}}}}},\"status\":{}}" },
	{ "deployment-d1",
	  "6b3873000a150a07617070732f7631120a4465706c6f796d656e7412b6010a1d0a02643112001a0022002a0032"
	  "00380042005a090a03617070120264311286010800120b0a090a03617070120264311a6d0a1b0a0012001a0022"
	  "002a003200380042005a090a0361707012026431124e12300a056e67696e7812076e67696e783a312a00320a0a"
	  "001000185022002a0042006a007200800100880100900100a201001a00320042004a0052005800600068008201"
	  "008a01009a0100c2010022020a00280038001a0c0800100018002000280038001a002200",
	  "{\"kind\":\"Deployment\",\"apiVersion\":\"apps/"
	  "v1\",\"metadata\":{\"name\":\"d1\",\"labels\":{\"app\":\"d1\"}}"
	  ",\"spec\":{\"replicas\":0,\"selector\":{\"matchLabels\":{\"app\":\"d1\"}},\"template\":{\"metadata\":{\"lab"
	  "els\":{\"app\":\"d1\"}},\"spec\":{\"containers\":[{\"name\":\"nginx\",\"image\":\"nginx:1\",\"ports\":[{"
	  "\"cont"
	  "ainerPort\":80}],\"resources\":{}}]}},\"strategy\":{}},\"status\":{}}" },
	{ "ingress-i1",
	  "6b3873000a1f0a146e6574776f726b696e672e6b38732e696f2f76311207496e677265737312620a1a0a026931"
	  "12001a0022002a0032003800420062060a01611201621240120f0a07666f6f2e636f6d1204636572741a2d0a07"
	  "666f6f2e636f6d12220a200a1e0a042f626172120e220c0a0373766312050a0010903f1a065072656669781a02"
	  "0a001a002200",
	  "{\"kind\":\"Ingress\",\"apiVersion\":\"networking.k8s.io/v1\",\"metadata\":{\"name\":\"i1\",\"annotations"
	  "\":{\"a\":\"b\"}},\"spec\":{\"tls\":[{\"hosts\":[\"foo.com\"],\"secretName\":\"cert\"}],\"rules\":[{"
	  "\"host\":\"f"
	  "oo.com\",\"http\":{\"paths\":[{\"path\":\"/"
	  "bar\",\"pathType\":\"Prefix\",\"backend\":{\"service\":{\"name\":\""
	  "svc\",\"port\":{\"number\":8080}}}}]}}]},\"status\":{\"loadBalancer\":{}}}" },
	{ "job-j1",
	  "6b3873000a0f0a0862617463682f763112034a6f621284010a120a026a3112001a0022002a0032003800420012"
	  "6432620a100a0012001a0022002a00320038004200124e122b0a026a31120762757379626f781a046563686f1a"
	  "0268692a0042006a007200800100880100900100a201001a054e65766572320042004a00520058006000680082"
	  "01008a01009a0100c201001a082000280030003a001a002200",
	  "{\"kind\":\"Job\",\"apiVersion\":\"batch/"
	  "v1\",\"metadata\":{\"name\":\"j1\"},\"spec\":{\"template\":{\"metada"
	  "ta\":{},\"spec\":{\"containers\":[{\"name\":\"j1\",\"image\":\"busybox\",\"command\":[\"echo\",\"hi\"],"
	  "\"resou"
	  "rces\":{}}],\"restartPolicy\":\"Never\"}}},\"status\":{}}" },
	{ "lease-times",
	  "6b3873000a1f0a16636f6f7264696e6174696f6e2e6b38732e696f2f763112054c6561736512210a0b0a016c42"
	  "060880e2cfaa0612120a0168100f220b0880e2cfaa06108094ef3a1a002200",
	  "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{\"name\":\"l\",\"creationTime"
	  "stamp\":\"2023-11-14T22:13:20Z\"},\"spec\":{\"holderIdentity\":\"h\",\"leaseDurationSeconds\":15,\"ren"
	  "ewTime\":\"2023-11-14T22:13:20.123456Z\"}}" },
	{ "ns-n1",
	  "6b3873000a0f0a02763112094e616d657370616365121a0a120a026e3112001a0022002a003200380042001200"
	  "1a020a001a002200",
	  "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"n1\"},\"spec\":{},\"status\":{}}" },
	{ "pdb-p1",
	  "6b3873000a200a09706f6c6963792f76311213506f6444697372757074696f6e42756467657412370a120a0270"
	  "3112001a0022002a0032003800420012150a09080110001a0335302512080a060a01611201621a0a0800180020"
	  "00280030001a002200",
	  "{\"kind\":\"PodDisruptionBudget\",\"apiVersion\":\"policy/v1\",\"metadata\":{\"name\":\"p1\"},\"spec\":{\"m"
	  "inAvailable\":\"50%\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}},\"status\":{}}" },
	{ "pdb-p2",
	  "6b3873000a200a09706f6c6963792f76311213506f6444697372757074696f6e42756467657412340a120a0270"
	  "3212001a0022002a00320038004200121212080a060a01611201621a06080010011a001a0a0800180020002800"
	  "30001a002200",
	  "{\"kind\":\"PodDisruptionBudget\",\"apiVersion\":\"policy/v1\",\"metadata\":{\"name\":\"p2\"},\"spec\":{\"s"
	  "elector\":{\"matchLabels\":{\"a\":\"b\"}},\"maxUnavailable\":1},\"status\":{}}" },
	{ "priorityclass-pc1",
	  "6b3873000a250a147363686564756c696e672e6b38732e696f2f7631120d5072696f72697479436c617373122e"
	  "0a130a0370633112001a0022002a0032003800420010fbffffffffffffffff01180022036c6f772a054e657665"
	  "721a002200",
	  "{\"kind\":\"PriorityClass\",\"apiVersion\":\"scheduling.k8s.io/v1\",\"metadata\":{\"name\":\"pc1\"},\"val"
	  "ue\":-5,\"description\":\"low\",\"preemptionPolicy\":\"Never\"}" },
	{ "quota-q1",
	  "6b3873000a130a027631120d5265736f7572636551756f746112450a120a02713112001a0022002a0032003800"
	  "4200122d0a0d0a0363707512060a043530306d0a0f0a066d656d6f727912050a033147690a0b0a04706f647312"
	  "030a01331a001a002200",
	  "{\"kind\":\"ResourceQuota\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"q1\"},\"spec\":{\"hard\":{"
	  "\"cpu\":\""
	  "500m\",\"memory\":\"1Gi\",\"pods\":\"3\"}},\"status\":{}}" },
	{ "role-r1",
	  "6b3873000a240a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f76311204526f6c6512290a"
	  "120a02723112001a0022002a0032003800420012130a036765740a046c69737412001a04706f64731a002200",
	  "{\"kind\":\"Role\",\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"metadata\":{\"name\":\"r1\"},\"rules"
	  "\":[{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]}" },
	{ "rolebinding-rb1",
	  "6b3873000a2b0a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f7631120b526f6c6542696e"
	  "64696e6712af010a130a0372623112001a0022002a0032003800420012260a04557365721219726261632e6175"
	  "74686f72697a6174696f6e2e6b38732e696f1a0175220012270a0547726f75701219726261632e617574686f72"
	  "697a6174696f6e2e6b38732e696f1a0167220012200a0e536572766963654163636f756e7412001a0373613122"
	  "0764656661756c741a250a19726261632e617574686f72697a6174696f6e2e6b38732e696f1204526f6c651a02"
	  "72311a002200",
	  "{\"kind\":\"RoleBinding\",\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"metadata\":{\"name\":\"rb1\""
	  "},\"subjects\":[{\"kind\":\"User\",\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"u\"},{\"kind\":\"G"
	  "roup\",\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"g\"},{\"kind\":\"ServiceAccount\",\"name\":\""
	  "sa1\",\"namespace\":\"default\"}],\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Rol"
	  "e\",\"name\":\"r1\"}}" },
	{ "sa-sa1",
	  "6b3873000a140a027631120e536572766963654163636f756e7412150a130a0373613112001a0022002a003200"
	  "380042001a002200",
	  "{\"kind\":\"ServiceAccount\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"sa1\"}}" },
	{ "secret-generic",
	  "6b3873000a0c0a0276311206536563726574121e0a120a02733112001a0022002a0032003800420012060a0170"
	  "1201711a001a002200",
	  "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"s1\"},\"data\":{\"p\":\"cQ==\"}}" },
	{ "service-clusterip",
	  "6b3873000a0d0a027631120753657276696365126c0a210a047376633112001a0022002a003200380042005a0b"
	  "0a0361707012047376633112430a1b0a0738302d38303830120354435018502207080010903f1a002800120b0a"
	  "036170701204737663311a002209436c757374657249503a00420052005a00600068001a020a001a002200",
	  "{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"svc1\",\"labels\":{\"app\":\"svc1\"}},"
	  "\"sp"
	  "ec\":{\"ports\":[{\"name\":\"80-8080\",\"protocol\":\"TCP\",\"port\":80,\"targetPort\":8080}],\"selector\":"
	  "{\"app\":\"svc1\"},\"type\":\"ClusterIP\"},\"status\":{\"loadBalancer\":{}}}" },
	{ "service-externalname",
	  "6b3873000a0d0a027631120753657276696365125d0a210a047376633312001a0022002a003200380042005a0b"
	  "0a036170701204737663331234120b0a036170701204737663331a00220c45787465726e616c4e616d653a0042"
	  "00520b6578616d706c652e636f6d5a00600068001a020a001a002200",
	  "{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"svc3\",\"labels\":{\"app\":\"svc3\"}},"
	  "\"sp"
	  "ec\":{\"selector\":{\"app\":\"svc3\"},\"type\":\"ExternalName\",\"externalName\":\"example.com\"},\"status"
	  "\":{\"loadBalancer\":{}}}" },
	{ "service-nodeport",
	  "6b3873000a0d0a02763112075365727669636512700a210a047376633212001a0022002a003200380042005a0b"
	  "0a0361707012047376633212470a200a0738302d6874747012035443501850220a080110001a04687474702880"
	  "eb01120b0a036170701204737663321a0022084e6f6465506f72743a00420052005a00600068001a020a001a00"
	  "2200",
	  "{\"kind\":\"Service\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"svc2\",\"labels\":{\"app\":\"svc2\"}},"
	  "\"sp"
	  "ec\":{\"ports\":[{\"name\":\"80-http\",\"protocol\":\"TCP\",\"port\":80,\"targetPort\":\"http\","
	  "\"nodePort\":"
	  "30080}],\"selector\":{\"app\":\"svc2\"},\"type\":\"NodePort\"},\"status\":{\"loadBalancer\":{}}}" },
	{ "subjectaccessreview-extra",
	  "6b3873000a2e0a17617574686f72697a6174696f6e2e6b38732e696f2f763112135375626a6563744163636573"
	  "73526576696577121712151a01752a100a0673636f70657312060a01780a01791a002200",
	  "{\"kind\":\"SubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/v1\",\"spec\":{\"user\":\"u\",\"e"
	  "xtra\":{\"scopes\":[\"x\",\"y\"]}}}" },
};

#endif
