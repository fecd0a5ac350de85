// The fields of pods. Deep parts that this model does not use (probes, affinity, most of a volume) are not
// checked.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
import { flag, int32, int64, open, quantities, text, textMap, texts, time } from '../../schema/scalars.ts';
import { always, given, list, struct, type WireField, type WireShape } from '../../schema/wire-shape.ts';

const port = struct('ContainerPort', {
  name: text,
  hostPort: int32,
  containerPort: always(int32),
  protocol: text,
  hostIP: text,
});

const resources = struct('ResourceRequirements', {
  limits: quantities,
  requests: quantities,
  claims: open,
});

const volumeMount = struct('VolumeMount', {
  name: always(text),
  readOnly: flag,
  recursiveReadOnly: given(text),
  mountPath: always(text),
  subPath: text,
  mountPropagation: given(text),
  subPathExpr: text,
});

const container = struct('Container', {
  name: always(text),
  image: text,
  command: texts,
  args: texts,
  workingDir: text,
  ports: list(port),
  envFrom: open,
  env: list(struct('EnvVar', { name: always(text), value: text, valueFrom: given(open) })),
  resources: always(resources),
  resizePolicy: open,
  restartPolicy: given(text),
  volumeMounts: list(volumeMount),
  volumeDevices: open,
  livenessProbe: given(open),
  readinessProbe: given(open),
  startupProbe: given(open),
  lifecycle: given(open),
  terminationMessagePath: text,
  terminationMessagePolicy: text,
  imagePullPolicy: text,
  securityContext: given(open),
  stdin: flag,
  stdinOnce: flag,
  tty: flag,
});

const toleration = struct('Toleration', {
  key: text,
  operator: text,
  value: text,
  effect: text,
  tolerationSeconds: given(int64),
});

const volumeSources = [
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephfs',
  'cinder',
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'glusterfs',
  'hostPath',
  'image',
  'iscsi',
  'nfs',
  'persistentVolumeClaim',
  'photonPersistentDisk',
  'portworxVolume',
  'projected',
  'quobyte',
  'rbd',
  'scaleIO',
  'secret',
  'storageos',
  'vsphereVolume',
];

const volume = struct('Volume', {
  name: always(text),
  ...Object.fromEntries(volumeSources.map((source): readonly [string, WireField] => [source, given(open)])),
});

const spec = struct('PodSpec', {
  volumes: list(volume),
  initContainers: list(container),
  containers: always(list(container)),
  ephemeralContainers: open,
  restartPolicy: text,
  terminationGracePeriodSeconds: given(int64),
  activeDeadlineSeconds: given(int64),
  dnsPolicy: text,
  nodeSelector: textMap,
  serviceAccountName: text,
  serviceAccount: text,
  automountServiceAccountToken: given(flag),
  nodeName: text,
  hostNetwork: flag,
  hostPID: flag,
  hostIPC: flag,
  shareProcessNamespace: given(flag),
  securityContext: given(open),
  imagePullSecrets: open,
  hostname: text,
  subdomain: text,
  affinity: given(open),
  schedulerName: text,
  tolerations: list(toleration),
  hostAliases: open,
  priorityClassName: text,
  priority: given(int32),
  dnsConfig: given(open),
  readinessGates: open,
  runtimeClassName: given(text),
  enableServiceLinks: given(flag),
  preemptionPolicy: given(text),
  overhead: quantities,
  topologySpreadConstraints: open,
  setHostnameAsFQDN: given(flag),
  os: given(open),
  hostUsers: given(flag),
  schedulingGates: open,
  resourceClaims: open,
  resources: given(open),
});

const condition = struct('PodCondition', {
  type: always(text),
  status: always(text),
  lastProbeTime: always(time),
  lastTransitionTime: always(time),
  reason: text,
  message: text,
});

const state = struct('ContainerState', {
  waiting: given(open),
  running: given(open),
  terminated: given(open),
});

const containerStatus = struct('ContainerStatus', {
  name: always(text),
  state: always(state),
  lastState: always(state),
  ready: always(flag),
  restartCount: always(int32),
  image: always(text),
  imageID: always(text),
  containerID: text,
  started: given(flag),
  allocatedResources: quantities,
  resources: given(open),
  volumeMounts: open,
  user: given(open),
  allocatedResourcesStatus: open,
});

const address = struct('PodIP', { ip: text });

const status = struct('PodStatus', {
  phase: text,
  conditions: list(condition),
  message: text,
  reason: text,
  nominatedNodeName: text,
  hostIP: text,
  hostIPs: list(address),
  podIP: text,
  podIPs: list(address),
  startTime: given(time),
  initContainerStatuses: list(containerStatus),
  containerStatuses: list(containerStatus),
  qosClass: text,
  ephemeralContainerStatuses: list(containerStatus),
  resize: text,
  resourceClaimStatuses: open,
});

export const podFields: Readonly<Record<string, WireField | WireShape>> = {
  spec: always(spec),
  status: always(status),
};
