// The formats of answers, and API discovery.
import { absent, like, present, type Step, step } from '../step.ts';
import { ciliumNodes, events, leases, nodes, pods, table } from './paths.ts';

const columns = (...names: readonly string[]): { readonly name: string }[] => names.map((name) => ({ name }));

const tables: readonly Step[] = [
  step(
    'shows a table of the columns of the definition',
    { method: 'GET', path: ciliumNodes, accept: `${table},application/json` },
    {
      status: 200,
      body: {
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: like(/^\d+$/) },
        columnDefinitions: [
          { name: 'Name', type: 'string', format: 'name', priority: 0, description: present },
          { name: 'CiliumInternalIP', type: 'string', format: '', priority: 0 },
          { name: 'InternalIP', type: 'string' },
          { name: 'Age', type: 'date' },
        ],
        rows: [
          {
            cells: ['a1', null, '10.0.0.1', like(/^\d+[smh]/)],
            object: {
              kind: 'PartialObjectMetadata',
              apiVersion: 'meta.k8s.io/v1',
              metadata: { name: 'a1' },
              spec: absent,
            },
          },
        ],
      },
    },
  ),
  step(
    'shows the whole object in a table',
    { method: 'GET', path: `${ciliumNodes}/a1?includeObject=Object`, accept: table },
    { status: 200, body: { rows: [{ object: { kind: 'CiliumNode', spec: present } }] } },
  ),
  step(
    'shows no object in a table',
    { method: 'GET', path: `${ciliumNodes}/a1?includeObject=None`, accept: table },
    { status: 200, body: { rows: [{ object: null }] } },
  ),
  step(
    'refuses another part of the object',
    { method: 'GET', path: `${ciliumNodes}/a1?includeObject=Bogus`, accept: table },
    {
      status: 400,
      message:
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Bogus\": must be 'Metadata', 'Object', 'None', or empty",
    },
  ),
  step(
    'shows refusals unchanged',
    { method: 'GET', path: `${ciliumNodes}/none`, accept: table },
    { status: 404, reason: 'NotFound' },
  ),
  step(
    'shows metadata only',
    {
      method: 'GET',
      path: ciliumNodes,
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    },
    {
      status: 200,
      body: { kind: 'PartialObjectMetadataList', items: [{ kind: 'PartialObjectMetadata', spec: absent }] },
    },
  ),
  step(
    'does not show a list as a single object',
    {
      method: 'GET',
      path: ciliumNodes,
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    },
    {
      status: 406,
      reason: 'NotAcceptable',
      message: like(/^you requested PartialObjectMetadata, but the requested object is a list/),
    },
  ),
  step(
    'shows a table of nodes',
    { method: 'GET', path: nodes, accept: table },
    {
      status: 200,
      body: {
        columnDefinitions: columns(
          'Name',
          'Status',
          'Roles',
          'Age',
          'Version',
          'Internal-IP',
          'External-IP',
          'OS-Image',
          'Kernel-Version',
          'Container-Runtime',
        ),
        rows: [
          {
            cells: [
              'n1',
              'Ready',
              '<none>',
              present,
              '',
              '<none>',
              '<none>',
              '<unknown>',
              '<unknown>',
              '<unknown>',
            ],
          },
        ],
      },
    },
  ),
  step(
    'shows a table of no pods',
    { method: 'GET', path: pods, accept: table },
    {
      status: 200,
      body: {
        columnDefinitions: columns(
          'Name',
          'Ready',
          'Status',
          'Restarts',
          'Age',
          'IP',
          'Node',
          'Nominated Node',
          'Readiness Gates',
        ),
        rows: [],
      },
    },
  ),
  step(
    'shows a table of events',
    { method: 'GET', path: `${events}?fieldSelector=metadata.name%3De3`, accept: table },
    {
      status: 200,
      body: {
        rows: [
          {
            cells: [
              present,
              'Warning',
              'Exhausted',
              'ciliumnode/a1',
              '',
              'example.org/controller, one',
              'no address is left',
              present,
              1,
              'e3',
            ],
          },
        ],
      },
    },
  ),
  step(
    'shows a table of leases',
    { method: 'GET', path: leases, accept: table },
    {
      status: 200,
      body: {
        columnDefinitions: columns('Name', 'Holder', 'Age'),
        rows: [{ cells: ['other', '', present] }],
      },
    },
  ),
  step(
    'refuses an unsupported media type',
    { method: 'GET', path: ciliumNodes, accept: 'text/plain' },
    {
      status: 406,
      reason: 'NotAcceptable',
      message:
        'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    },
  ),
  step(
    'refuses an unsupported media type in the words of the router',
    { method: 'GET', path: nodes, accept: 'text/plain' },
    {
      status: 406,
      reason: 'NotAcceptable',
      message: like(/^406: Not Acceptable\n\nAvailable representations: application\/json/),
    },
  ),
  step('accepts any media type', { method: 'GET', path: ciliumNodes, accept: '*/*' }, { status: 200 }),
];

const discovering: readonly Step[] = [
  step(
    'lists the core versions',
    { method: 'GET', path: '/api' },
    { status: 200, body: { kind: 'APIVersions', versions: ['v1'] } },
  ),
  step(
    'describes a group',
    { method: 'GET', path: '/apis/cilium.io' },
    {
      status: 200,
      body: {
        kind: 'APIGroup',
        name: 'cilium.io',
        versions: [{ groupVersion: 'cilium.io/v2', version: 'v2' }],
        preferredVersion: { groupVersion: 'cilium.io/v2' },
      },
    },
  ),
  step(
    'lists the resources of a group',
    { method: 'GET', path: '/apis/cilium.io/v2' },
    {
      status: 200,
      body: {
        kind: 'APIResourceList',
        groupVersion: 'cilium.io/v2',
        resources: [
          {
            name: 'ciliumnodes',
            singularName: 'ciliumnode',
            namespaced: false,
            kind: 'CiliumNode',
            verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
            shortNames: ['cn', 'ciliumn'],
            categories: ['cilium'],
          },
          {
            name: 'ciliumnodes/status',
            singularName: '',
            kind: 'CiliumNode',
            verbs: ['get', 'patch', 'update'],
          },
        ],
      },
    },
  ),
  step(
    'lists the resources of leases',
    { method: 'GET', path: '/apis/coordination.k8s.io/v1' },
    {
      status: 200,
      body: {
        resources: [
          {
            name: 'leases',
            namespaced: true,
            verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
          },
        ],
      },
    },
  ),
  step(
    'lists all groups at once when the request says so',
    {
      method: 'GET',
      path: '/apis',
      accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json',
    },
    {
      status: 200,
      contentType: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      body: { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' },
    },
  ),
  step(
    'does not know an unknown group',
    { method: 'GET', path: '/apis/nope.example.org' },
    { status: 404, text: '404 page not found\n' },
  ),
  step(
    'shows its version',
    { method: 'GET', path: '/version' },
    { status: 200, body: { major: '1', gitVersion: like(/^v1\./) } },
  ),
  step('is healthy', { method: 'GET', path: '/healthz' }, { status: 200, text: 'ok' }),
  step('is ready', { method: 'GET', path: '/readyz' }, { status: 200, text: 'ok' }),
  step('is alive', { method: 'GET', path: '/livez' }, { status: 200, text: 'ok' }),
  step(
    'shows the definition as established',
    { method: 'GET', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ciliumnodes.cilium.io' },
    {
      status: 200,
      body: {
        spec: { conversion: { strategy: 'None' }, names: { listKind: 'CiliumNodeList' } },
        status: {
          conditions: [
            { type: 'NamesAccepted', status: 'True' },
            { type: 'Established', status: 'True' },
          ],
          acceptedNames: { kind: 'CiliumNode' },
          storedVersions: ['v2'],
        },
      },
    },
  ),
];

export const showing: readonly Step[] = [...tables, ...discovering];
