// Pods: defaults, refusals, selection, binding and termination.
import { absent, like, present, type Step, step } from '../step.ts';
import { pod, pods } from './paths.ts';

const p1 = `${pods}/p1`;
const everywhere = '/api/v1/pods';

function selects(title: string, selector: string, names: readonly string[]): Step {
  return step(
    `selects ${title}`,
    { method: 'GET', path: `${everywhere}?fieldSelector=${encodeURIComponent(selector)}` },
    { status: 200, body: { kind: 'PodList', items: names.map((name) => ({ metadata: { name } })) } },
  );
}

const making: readonly Step[] = [
  step(
    'creates a pod and sets defaults',
    {
      method: 'POST',
      path: pods,
      body: { ...pod('p1', {}, { labels: { app: 'x' } }), status: { phase: 'Running', podIP: '1.2.3.4' } },
    },
    {
      status: 201,
      body: {
        metadata: { generation: absent, namespace: 'default' },
        spec: {
          containers: [
            {
              name: 'main',
              imagePullPolicy: 'IfNotPresent',
              resources: {},
              terminationMessagePath: '/dev/termination-log',
              terminationMessagePolicy: 'File',
            },
          ],
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 30,
          dnsPolicy: 'ClusterFirst',
          securityContext: {},
          schedulerName: 'default-scheduler',
          enableServiceLinks: true,
        },
        status: { phase: 'Pending', qosClass: 'BestEffort', podIP: absent },
      },
    },
  ),
  step(
    'creates a pod on a node and its network',
    {
      method: 'POST',
      path: pods,
      body: pod('p2', {
        nodeName: 'n1',
        hostNetwork: true,
        containers: [
          {
            name: 'main',
            image: 'example.org/app',
            ports: [{ containerPort: 80 }],
            resources: { limits: { cpu: '1000m' }, requests: { memory: '1Mi' } },
          },
        ],
      }),
    },
    {
      status: 201,
      body: {
        spec: {
          containers: [
            {
              imagePullPolicy: 'Always',
              ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }],
              resources: { limits: { cpu: '1' }, requests: { cpu: '1', memory: '1Mi' } },
            },
          ],
        },
        status: { qosClass: 'Burstable' },
      },
    },
  ),
  step(
    'refuses a pod without containers',
    { method: 'POST', path: pods, body: pod('p3', { containers: [] }) },
    { status: 422, message: 'Pod "p3" is invalid: spec.containers: Required value' },
  ),
  step(
    'refuses a container without fields',
    { method: 'POST', path: pods, body: pod('p3', { containers: [{}] }) },
    {
      status: 422,
      message:
        'Pod "p3" is invalid: [spec.containers[0].name: Required value, spec.containers[0].image: Required value]',
    },
  ),
  step(
    'refuses the same container twice, and invalid choices',
    {
      method: 'POST',
      path: pods,
      body: pod('p3', {
        containers: [
          { name: 'c', image: 'x' },
          { name: 'c', image: 'y' },
        ],
        restartPolicy: 'Sometimes',
        dnsPolicy: 'None of these',
      }),
    },
    {
      status: 422,
      message:
        'Pod "p3" is invalid: [spec.containers[1].name: Duplicate value: "c", spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never", spec.dnsPolicy: Unsupported value: "None of these": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]',
    },
  ),
  step(
    'refuses a mount of a missing volume',
    {
      method: 'POST',
      path: pods,
      body: pod('p3', {
        containers: [{ name: 'c', image: 'x', volumeMounts: [{ name: 'nope', mountPath: '/x' }] }],
      }),
    },
    {
      status: 422,
      message: 'Pod "p3" is invalid: spec.containers[0].volumeMounts[0].name: Not found: "nope"',
    },
  ),
  step(
    'refuses a text for a list',
    { method: 'POST', path: pods, body: pod('p3', { containers: 'x' }) },
    {
      status: 400,
      message:
        'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container',
    },
  ),
  step(
    'refuses to create a pod without a namespace',
    { method: 'POST', path: everywhere, body: pod('p3') },
    {
      status: 405,
      reason: 'MethodNotAllowed',
      message: 'the server does not allow this method on the requested resource',
    },
  ),
];

const changing: readonly Step[] = [
  step(
    'keeps the spec of a pod',
    { method: 'PATCH', path: p1, body: { spec: { hostNetwork: true } } },
    {
      status: 422,
      message: like(
        /^Pod "p1" is invalid: spec: Forbidden: pod updates may not change fields other than `spec.containers\[\*\].image`/,
      ),
    },
  ),
  step(
    'changes an image by the name of its container',
    {
      method: 'PATCH',
      path: p1,
      contentType: 'application/strategic-merge-patch+json',
      body: { spec: { containers: [{ name: 'main', image: 'example.org/app:2' }] } },
    },
    {
      status: 200,
      body: { spec: { containers: [{ name: 'main', image: 'example.org/app:2', resources: {} }] } },
    },
  ),
  step(
    'binds a pod to a node',
    {
      method: 'POST',
      path: `${p1}/binding`,
      body: { metadata: { name: 'p1' }, target: { kind: 'Node', name: 'n1' } },
    },
    { status: 201, body: { kind: 'Status', status: 'Success', code: 201 } },
  ),
  step(
    'binds a pod only once',
    {
      method: 'POST',
      path: `${p1}/binding`,
      body: { metadata: { name: 'p1' }, target: { kind: 'Node', name: 'n2' } },
    },
    {
      status: 409,
      reason: 'Conflict',
      message: 'Operation cannot be fulfilled on pods/binding "p1": pod p1 is already assigned to node "n1"',
    },
  ),
  step(
    'writes the status of a pod and nothing else',
    {
      method: 'PATCH',
      path: `${p1}/status`,
      body: {
        spec: { nodeName: 'n9' },
        status: { phase: 'Running', podIP: '10.0.0.5', conditions: [{ type: 'Ready', status: 'True' }] },
      },
    },
    {
      status: 200,
      body: {
        spec: { nodeName: 'n1' },
        status: {
          phase: 'Running',
          podIP: '10.0.0.5',
          podIPs: [{ ip: '10.0.0.5' }],
          conditions: [{ type: 'Ready', lastProbeTime: null, lastTransitionTime: null }],
          qosClass: 'BestEffort',
        },
      },
    },
  ),
  step(
    'keeps the class of a pod',
    { method: 'PATCH', path: `${p1}/status`, body: { status: { qosClass: 'Guaranteed' } } },
    {
      status: 422,
      message: 'Pod "p1" is invalid: status.qosClass: Invalid value: "Guaranteed": field is immutable',
    },
  ),
  step(
    'ignores the status on the path of the pod',
    { method: 'PATCH', path: p1, body: { status: { phase: 'Failed' } } },
    { status: 200, body: { status: { phase: 'Running' } } },
  ),
];

const selecting: readonly Step[] = [
  step('creates a pod without a node', { method: 'POST', path: pods, body: pod('p4') }, { status: 201 }),
  selects('pods of a node', 'spec.nodeName=n1', ['p1', 'p2']),
  selects('pods of no node', 'spec.nodeName=', ['p4']),
  selects('pods of other nodes', 'spec.nodeName!=n1', ['p4']),
  selects('pending pods of a node', 'spec.nodeName=n1,status.phase=Pending', ['p2']),
  selects('pods by their network', 'spec.hostNetwork=false,metadata.namespace=default', ['p1', 'p4']),
  selects('pods by their address', 'status.podIP=10.0.0.5', ['p1']),
];

const ending: readonly Step[] = [
  step(
    'starts the grace period of a pod on a node',
    { method: 'DELETE', path: p1 },
    {
      status: 200,
      body: { kind: 'Pod', metadata: { deletionTimestamp: like(/Z$/), deletionGracePeriodSeconds: 30 } },
      capture: { prv: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'does not extend the grace period',
    { method: 'DELETE', path: p1 },
    { status: 200, body: { metadata: { resourceVersion: '{prv}', deletionGracePeriodSeconds: 30 } } },
  ),
  step(
    'shortens the grace period',
    { method: 'DELETE', path: p1, body: { gracePeriodSeconds: 3 } },
    { status: 200, body: { metadata: { deletionGracePeriodSeconds: 3 } } },
  ),
  step(
    'deletes the pod without a grace period',
    { method: 'DELETE', path: `${p1}?gracePeriodSeconds=0` },
    { status: 200, body: { kind: 'Pod', metadata: { deletionGracePeriodSeconds: 0 } } },
  ),
  step(
    'no longer finds the pod',
    { method: 'GET', path: p1 },
    { status: 404, message: 'pods "p1" not found' },
  ),
  step(
    'ends a pod without a node at once',
    { method: 'DELETE', path: `${pods}/p4` },
    {
      status: 200,
      body: { kind: 'Pod', metadata: { deletionGracePeriodSeconds: 0, deletionTimestamp: present } },
    },
  ),
  step('no longer finds the pod without a node', { method: 'GET', path: `${pods}/p4` }, { status: 404 }),
  step(
    'deletes the other pods',
    { method: 'DELETE', path: pods, body: { gracePeriodSeconds: 0 } },
    { status: 200, body: { kind: 'PodList', items: [{ metadata: { name: 'p2' } }] } },
  ),
];

export const podSteps: readonly Step[] = [...making, ...changing, ...selecting, ...ending];
