// Creating and reading CiliumNodes: what the server owns, what it prunes, and what it refuses before it validates the schema.
import { absent, like, present, type Step, step } from '../step.ts';
import { ciliumNode, ciliumNodes, namespaces } from './paths.ts';

export const creating: readonly Step[] = [
  step('starts with no CiliumNodes', { method: 'DELETE', path: ciliumNodes }, { status: 200 }),
  step(
    'creates a CiliumNode, prunes unknown fields and warns about them',
    {
      method: 'POST',
      path: ciliumNodes,
      body: ciliumNode(
        'a1',
        { ipam: { 'pre-allocate': 8, foo: 1, pool: { '10.0.0.1': { resource: 'eni-1', bar: 2 } } } },
        { labels: { zone: 'a' } },
        { status: { ipam: { used: {} } }, extra: true },
      ),
    },
    {
      status: 201,
      warnings: [
        'unknown field "extra"',
        'unknown field "spec.ipam.foo"',
        'unknown field "spec.ipam.pool.10.0.0.1.bar"',
      ],
      body: {
        apiVersion: 'cilium.io/v2',
        kind: 'CiliumNode',
        metadata: {
          name: 'a1',
          uid: like(/^[0-9a-f-]{36}$/),
          resourceVersion: like(/^\d+$/),
          creationTimestamp: like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          generation: 1,
          labels: { zone: 'a' },
        },
        spec: {
          ipam: { 'pre-allocate': 8, foo: absent, pool: { '10.0.0.1': { resource: 'eni-1', bar: absent } } },
        },
        status: absent,
        extra: absent,
      },
      capture: { uid: ['metadata', 'uid'], rv: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'returns the CiliumNode',
    { method: 'GET', path: `${ciliumNodes}/a1` },
    {
      status: 200,
      contentType: 'application/json',
      body: { metadata: { uid: '{uid}', resourceVersion: '{rv}' } },
    },
  ),
  step(
    'returns the CiliumNode by the path of its status',
    { method: 'GET', path: `${ciliumNodes}/a1/status` },
    { status: 200, body: { metadata: { uid: '{uid}' }, spec: present } },
  ),
  step(
    'refuses a second CiliumNode of that name',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('a1') },
    {
      status: 409,
      reason: 'AlreadyExists',
      message: 'ciliumnodes.cilium.io "a1" already exists',
      body: { details: { name: 'a1', group: 'cilium.io', kind: 'ciliumnodes' } },
    },
  ),
  step(
    'generates a name',
    {
      method: 'POST',
      path: ciliumNodes,
      body: ciliumNode('', {}, { name: undefined, generateName: 'made-' }),
    },
    {
      status: 201,
      body: { metadata: { name: like(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/), generateName: 'made-' } },
      capture: { made: ['metadata', 'name'] },
    },
  ),
  step(
    'deletes the CiliumNode with the generated name',
    { method: 'DELETE', path: `${ciliumNodes}/{made}` },
    { status: 200 },
  ),
  step(
    'ignores what the server owns',
    {
      method: 'POST',
      path: ciliumNodes,
      body: ciliumNode(
        'a2',
        {},
        {
          uid: 'mine',
          generation: 9,
          creationTimestamp: '2001-01-01T00:00:00Z',
          deletionTimestamp: '2001-01-01T00:00:00Z',
          namespace: 'anywhere',
        },
      ),
    },
    {
      status: 201,
      body: {
        metadata: {
          uid: like(/^[0-9a-f-]{36}$/),
          generation: 1,
          deletionTimestamp: absent,
          namespace: absent,
        },
      },
    },
  ),
  step(
    'refuses a resource version on a new object',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('a3', {}, { resourceVersion: '5' }) },
    { status: 500, message: 'resourceVersion should not be set on objects to be created' },
  ),
  step(
    'answers a dry run as a creation',
    { method: 'POST', path: `${ciliumNodes}?dryRun=All`, body: ciliumNode('dry') },
    { status: 201, body: { metadata: { name: 'dry', uid: present } } },
  ),
  step(
    'stores nothing of the dry run',
    { method: 'GET', path: `${ciliumNodes}/dry` },
    { status: 404, reason: 'NotFound', message: 'ciliumnodes.cilium.io "dry" not found' },
  ),
  step(
    'refuses an unknown kind of dry run',
    { method: 'POST', path: `${ciliumNodes}?dryRun=Some`, body: ciliumNode('dry') },
    {
      status: 422,
      reason: 'Invalid',
      message:
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"Some"}: supported values: "All"',
    },
  ),
  step(
    'refuses unknown fields when the request is strict',
    {
      method: 'POST',
      path: `${ciliumNodes}?fieldValidation=Strict`,
      body: ciliumNode('a3', { ipam: { foo: 1 } }, { bar: 2 }),
    },
    {
      status: 400,
      reason: 'BadRequest',
      message:
        'CiliumNode in version "v2" cannot be handled as a CiliumNode: strict decoding error: unknown field "metadata.bar", unknown field "spec.ipam.foo"',
    },
  ),
  step(
    'ignores unknown fields when the request says so',
    {
      method: 'POST',
      path: `${ciliumNodes}?fieldValidation=Ignore&dryRun=All`,
      body: ciliumNode('a3', { ipam: { foo: 1 } }),
    },
    { status: 201, warnings: [], body: { spec: { ipam: { foo: absent } } } },
  ),
  step(
    'refuses an unknown field validation',
    { method: 'POST', path: `${ciliumNodes}?fieldValidation=Bogus`, body: ciliumNode('a3') },
    { status: 422, reason: 'Invalid', message: like(/fieldValidation: Unsupported value: "Bogus"/) },
  ),
  step(
    'refuses an object without a kind',
    { method: 'POST', path: ciliumNodes, body: { apiVersion: 'cilium.io/v2', metadata: { name: 'a3' } } },
    {
      status: 400,
      reason: 'BadRequest',
      message: like(
        /^the object provided is unrecognized \(must be of type CiliumNode\): Object 'Kind' is missing in/,
      ),
    },
  ),
  step(
    'refuses an object without a version',
    { method: 'POST', path: ciliumNodes, body: { kind: 'CiliumNode', metadata: { name: 'a3' }, spec: {} } },
    {
      status: 400,
      message: 'the API version in the data () does not match the expected API version (cilium.io/v2)',
    },
  ),
  step(
    'refuses another version',
    {
      method: 'POST',
      path: ciliumNodes,
      body: { apiVersion: 'cilium.io/v1', kind: 'CiliumNode', metadata: { name: 'a3' }, spec: {} },
    },
    {
      status: 400,
      message:
        'the API version in the data (cilium.io/v1) does not match the expected API version (cilium.io/v2)',
    },
  ),
  step(
    'refuses another kind',
    {
      method: 'POST',
      path: ciliumNodes,
      body: { apiVersion: 'cilium.io/v2', kind: 'Other', metadata: { name: 'a3' }, spec: {} },
    },
    {
      status: 422,
      reason: 'Invalid',
      message: 'Other.cilium.io "a3" is invalid: kind: Invalid value: "Other": must be CiliumNode',
    },
  ),
  step(
    'refuses a body that is no JSON',
    { method: 'POST', path: ciliumNodes, text: '{"metadata":{"name":"a3"' },
    {
      status: 400,
      message:
        'the object provided is unrecognized (must be of type CiliumNode): couldn\'t get version/kind; json parse error: unexpected end of JSON input ({"metadata":{"name":"a3")',
    },
  ),
  step(
    'refuses a list',
    { method: 'POST', path: ciliumNodes, text: '[]' },
    { status: 400, message: like(/cannot unmarshal array into Go value.*\(5b5d\)$/) },
  ),
  step(
    'refuses an empty body',
    { method: 'POST', path: namespaces, text: '' },
    { status: 400, message: like(/\(<empty>\)$/) },
  ),
  step(
    'refuses another media type',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('a3'), contentType: 'text/plain' },
    {
      status: 415,
      reason: 'UnsupportedMediaType',
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    },
  ),
  step(
    'refuses a body that is too long',
    {
      method: 'POST',
      path: ciliumNodes,
      text: JSON.stringify(ciliumNode('a3', { bootid: 'x'.repeat(3 * 1024 * 1024) })),
    },
    { status: 413, reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' },
  ),
  step('deletes the other CiliumNode', { method: 'DELETE', path: `${ciliumNodes}/a2` }, { status: 200 }),
];
