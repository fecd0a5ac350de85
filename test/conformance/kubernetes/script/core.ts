// Nodes, namespaces and config maps: differences of built-in resources.
import { absent, like, type Step, step } from '../step.ts';
import { configMaps, namespaces, node, nodes } from './paths.ts';

const n1 = `${nodes}/n1`;
const strategic = 'application/strategic-merge-patch+json';
const configMap = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});

const nodeSteps: readonly Step[] = [
  step('starts with no nodes', { method: 'DELETE', path: nodes }, { status: 200 }),
  step(
    'creates a node, sets defaults and normalizes quantities',
    {
      method: 'POST',
      path: nodes,
      body: node('n1', {
        spec: { providerID: 'aws:///a/i-1', podCIDR: '10.0.0.0/24', bogus: 1 },
        status: { capacity: { cpu: '2000m', memory: '1.5Gi', pods: 110 } },
      }),
    },
    {
      status: 201,
      warnings: ['unknown field "spec.bogus"'],
      body: {
        kind: 'Node',
        metadata: { generation: absent },
        spec: { podCIDRs: ['10.0.0.0/24'], bogus: absent },
        status: {
          capacity: { cpu: '2', memory: '1536Mi', pods: '110' },
          allocatable: { cpu: '2' },
          daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
          nodeInfo: { kubeletVersion: '' },
        },
      },
    },
  ),
  step(
    'accepts a node without kind and version',
    { method: 'POST', path: nodes, body: { metadata: { name: 'n2' } } },
    { status: 201, body: { kind: 'Node', apiVersion: 'v1', spec: {} } },
  ),
  step(
    'refuses a wrong type in the words of the decoder',
    { method: 'POST', path: nodes, body: node('n3', { spec: { unschedulable: 'yes' } }) },
    {
      status: 400,
      message:
        'Node in version "v1" cannot be handled as a Node: json: cannot unmarshal string into Go struct field NodeSpec.spec.unschedulable of type bool',
    },
  ),
  step(
    'refuses a list for a struct',
    { method: 'POST', path: nodes, body: node('n3', { spec: [] }) },
    {
      status: 400,
      message:
        'Node in version "v1" cannot be handled as a Node: json: cannot unmarshal array into Go struct field Node.spec of type v1.NodeSpec',
    },
  ),
  step(
    'refuses a label that is no text',
    { method: 'POST', path: nodes, body: node('n3', {}, { labels: { a: 1 } }) },
    { status: 400, message: like(/Go struct field ObjectMeta.metadata.labels of type string$/) },
  ),
  step(
    'refuses another kind',
    { method: 'POST', path: nodes, body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'n3' } } },
    {
      status: 400,
      message:
        'Pod in version "v1" cannot be handled as a Node: converting (v1.Pod) to (core.Node): unknown conversion',
    },
  ),
  step(
    'refuses unknown fields in their order when the request is strict',
    {
      method: 'POST',
      path: `${nodes}?fieldValidation=Strict`,
      body: { kind: 'Node', metadata: { name: 'n3', x: 1 }, spec: { q: 2 }, z: 3 },
    },
    {
      status: 400,
      message:
        'Node in version "v1" cannot be handled as a Node: strict decoding error: unknown field "metadata.x", unknown field "spec.q", unknown field "z"',
    },
  ),
  step(
    'refuses a taint without a known effect',
    { method: 'POST', path: nodes, body: node('n3', { spec: { taints: [{ key: 'k', effect: 'Foo' }] } }) },
    {
      status: 422,
      message:
        'Node "n3" is invalid: metadata.taints[0].effect: Unsupported value: "Foo": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    },
  ),
  step(
    'keeps the machine of a node',
    { method: 'PATCH', path: n1, body: { spec: { providerID: 'aws:///a/i-2' } } },
    {
      status: 422,
      message:
        'Node "n1" is invalid: spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    },
  ),
  step(
    'keeps the CIDR of a node',
    { method: 'PATCH', path: n1, body: { spec: { podCIDR: null, podCIDRs: null } } },
    {
      status: 422,
      message: like(/spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid$/),
    },
  ),
  step(
    'replaces a node whatever its version',
    { method: 'PUT', path: `${nodes}/n2`, body: node('n2', { spec: { unschedulable: true } }) },
    { status: 200, body: { spec: { unschedulable: true } } },
  ),
  step(
    'changes labels, but not the spec, with the status',
    {
      method: 'PATCH',
      path: `${n1}/status`,
      body: {
        metadata: { labels: { via: 'status' } },
        spec: { unschedulable: true },
        status: { conditions: [{ type: 'NetworkUnavailable', status: 'False' }] },
      },
    },
    {
      status: 200,
      body: {
        metadata: { labels: { via: 'status' } },
        spec: { unschedulable: absent },
        status: {
          conditions: [
            {
              type: 'NetworkUnavailable',
              status: 'False',
              lastHeartbeatTime: null,
              lastTransitionTime: null,
            },
          ],
        },
      },
    },
  ),
  step(
    'merges lists by their key in a strategic patch',
    {
      method: 'PATCH',
      path: `${n1}/status`,
      contentType: strategic,
      body: { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
    },
    { status: 200, body: { status: { conditions: [{ type: 'Ready' }, { type: 'NetworkUnavailable' }] } } },
  ),
  step(
    'removes an item by a strategic patch',
    {
      method: 'PATCH',
      path: `${n1}/status`,
      contentType: strategic,
      body: { status: { conditions: [{ type: 'NetworkUnavailable', $patch: 'delete' }] } },
    },
    { status: 200, body: { status: { conditions: [{ type: 'Ready' }] } } },
  ),
  step(
    'ignores the status on the path of the node',
    { method: 'PATCH', path: n1, body: { status: { conditions: null } } },
    { status: 200, body: { status: { conditions: [{ type: 'Ready' }] } } },
  ),
  step(
    'checks the uid of a built-in resource',
    { method: 'PATCH', path: `${n1}/status`, body: { metadata: { uid: 'other' }, status: {} } },
    { status: 422, message: like(/metadata.uid: Invalid value: "other": field is immutable$/) },
  ),
  step(
    'selects nodes by whether they are cordoned',
    { method: 'GET', path: `${nodes}?fieldSelector=spec.unschedulable%3Dtrue` },
    {
      status: 200,
      body: {
        kind: 'NodeList',
        metadata: { continue: absent },
        items: [{ kind: absent, apiVersion: absent, metadata: { name: 'n2' } }],
      },
    },
  ),
  step(
    'deletes a node',
    { method: 'DELETE', path: `${nodes}/n2` },
    { status: 200, body: { kind: 'Status', details: { name: 'n2', kind: 'nodes' } } },
  ),
  step(
    'refuses a media type on a node in the words of the router',
    { method: 'PATCH', path: n1, body: {}, contentType: 'text/plain' },
    { status: 415, reason: 'UnsupportedMediaType', message: '415: Unsupported Media Type' },
  ),
];

const namespaceSteps: readonly Step[] = [
  step(
    'creates a namespace',
    {
      method: 'POST',
      path: namespaces,
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'room' } },
    },
    {
      status: 201,
      body: {
        metadata: { labels: { 'kubernetes.io/metadata.name': 'room' } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      },
    },
  ),
  step(
    'refuses a namespace with a dot',
    { method: 'POST', path: namespaces, body: { metadata: { name: 'a.b' } } },
    {
      status: 422,
      message: 'Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots',
    },
  ),
  step(
    'creates nothing in a missing namespace',
    { method: 'POST', path: '/api/v1/namespaces/nowhere/configmaps', body: configMap('c1') },
    { status: 404, reason: 'NotFound', message: 'namespaces "nowhere" not found' },
  ),
  step(
    'never deletes the default namespace',
    { method: 'DELETE', path: `${namespaces}/default` },
    {
      status: 403,
      reason: 'Forbidden',
      message: 'namespaces "default" is forbidden: this namespace may not be deleted',
    },
  ),
  step(
    'starts to delete a namespace',
    { method: 'DELETE', path: `${namespaces}/room` },
    {
      status: 200,
      body: {
        kind: 'Namespace',
        metadata: { deletionTimestamp: like(/Z$/), deletionGracePeriodSeconds: absent },
        status: { phase: 'Terminating' },
      },
    },
  ),
  step(
    'creates nothing in a namespace that is being deleted',
    { method: 'POST', path: '/api/v1/namespaces/room/configmaps', body: configMap('c1') },
    {
      status: 403,
      reason: 'Forbidden',
      message:
        'configmaps "c1" is forbidden: unable to create new content in namespace room because it is being terminated',
      body: { details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] } },
    },
  ),
  step(
    'deletes the namespace with its last finalizer',
    { method: 'PUT', path: `${namespaces}/room/finalize`, body: { metadata: { name: 'room' }, spec: {} } },
    { status: 200, body: { spec: { finalizers: absent } } },
  ),
  step('no longer finds the namespace', { method: 'GET', path: `${namespaces}/room` }, { status: 404 }),
];

const configMapSteps: readonly Step[] = [
  step(
    'creates a config map',
    {
      method: 'POST',
      path: configMaps,
      body: configMap('c1', { data: { a: 'b', empty: '' }, binaryData: {} }),
    },
    {
      status: 201,
      body: { metadata: { namespace: 'default' }, data: { a: 'b', empty: '' }, binaryData: absent },
    },
  ),
  step(
    'refuses a config map of another namespace',
    { method: 'POST', path: configMaps, body: { metadata: { name: 'c2', namespace: 'other' } } },
    {
      status: 400,
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    },
  ),
  step(
    'refuses an invalid key of a config map',
    { method: 'POST', path: configMaps, body: configMap('c2', { data: { 'a b': 'x' } }) },
    {
      status: 422,
      message: like(/^ConfigMap "c2" is invalid: data\[a b\]: Invalid value: "a b": a valid config key must/),
    },
  ),
  step(
    'removes a key of a config map',
    { method: 'PATCH', path: `${configMaps}/c1`, body: { data: { a: null } } },
    { status: 200, body: { data: { a: absent, empty: '' } } },
  ),
  step(
    'makes a config map immutable',
    { method: 'PATCH', path: `${configMaps}/c1`, body: { immutable: true } },
    { status: 200, body: { immutable: true } },
  ),
  step(
    'refuses a change of an immutable config map',
    { method: 'PATCH', path: `${configMaps}/c1`, body: { data: { a: 'c' } } },
    {
      status: 422,
      message: 'ConfigMap "c1" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    },
  ),
  step(
    'deletes an immutable config map',
    { method: 'DELETE', path: `${configMaps}/c1` },
    { status: 200, body: { kind: 'Status' } },
  ),
];

export const core: readonly Step[] = [...nodeSteps, ...namespaceSteps, ...configMapSteps];
