// Refusals of a custom resource by its schema and by the rules of metadata, each with its text and its cause.
import { absent, type Expected, like, type Step, step } from '../step.ts';
import { ciliumNode, ciliumNodes } from './paths.ts';

interface Refused {
  readonly title: string;
  readonly spec?: unknown;
  readonly metadata?: object;
  /** What follows `CiliumNode.cilium.io "<name>" is invalid: `. */
  readonly problem: string;
  readonly causes: Expected;
  readonly name?: string;
}

function refuses({ title, spec = {}, metadata = {}, problem, causes, name = 'v1' }: Refused): Step {
  return step(
    `refuses ${title}`,
    { method: 'POST', path: ciliumNodes, body: ciliumNode(name, spec, metadata) },
    {
      status: 422,
      reason: 'Invalid',
      message: `CiliumNode.cilium.io "${name}" is invalid: ${problem}`,
      body: {
        details: { name: name === '' ? absent : name, group: 'cilium.io', kind: 'CiliumNode', causes },
      },
    },
  );
}

function wrongType(
  title: string,
  spec: unknown,
  field: string,
  types: { wanted: string; actual: string },
): Step {
  const message = `Invalid value: "${types.actual}": ${field} in body must be of type ${types.wanted}: "${types.actual}"`;
  const causes = [{ reason: 'FieldValueTypeInvalid', field, message }];
  return refuses({ title, spec, problem: `${field}: ${message}`, causes });
}

const qualified =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const invalidCause = (field: string): Expected => [{ reason: 'FieldValueInvalid', field }];

export const validating: readonly Step[] = [
  refuses({
    title: 'a number below its minimum',
    spec: { ipam: { 'pre-allocate': -1 } },
    problem:
      'spec.ipam.pre-allocate: Invalid value: -1: spec.ipam.pre-allocate in body should be greater than or equal to 0',
    causes: [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.ipam.pre-allocate',
        message: 'Invalid value: -1: spec.ipam.pre-allocate in body should be greater than or equal to 0',
      },
    ],
  }),
  wrongType('a text for a number', { ipam: { 'min-allocate': 'x' } }, 'spec.ipam.min-allocate', {
    wanted: 'integer',
    actual: 'string',
  }),
  wrongType('a fraction for an integer', { ipam: { 'max-allocate': 1.5 } }, 'spec.ipam.max-allocate', {
    wanted: 'integer',
    actual: 'number',
  }),
  wrongType('a boolean for a number', { nodeidentity: true }, 'spec.nodeidentity', {
    wanted: 'integer',
    actual: 'boolean',
  }),
  wrongType('a number for a boolean', { eni: { 'use-primary-address': 1 } }, 'spec.eni.use-primary-address', {
    wanted: 'boolean',
    actual: 'integer',
  }),
  wrongType('a text for an object', { ipam: 'x' }, 'spec.ipam', { wanted: 'object', actual: 'string' }),
  wrongType('an object for a list', { addresses: {} }, 'spec.addresses', {
    wanted: 'array',
    actual: 'object',
  }),
  wrongType('a list for an object', { health: [] }, 'spec.health', { wanted: 'object', actual: 'array' }),
  wrongType('a number in a map of texts', { eni: { 'subnet-tags': { a: 1 } } }, 'spec.eni.subnet-tags.a', {
    wanted: 'string',
    actual: 'integer',
  }),
  wrongType('a number in a list of texts', { eni: { 'subnet-ids': ['a', 1] } }, 'spec.eni.subnet-ids[1]', {
    wanted: 'string',
    actual: 'integer',
  }),
  wrongType('null in a list of objects', { addresses: [null] }, 'spec.addresses[0]', {
    wanted: 'object',
    actual: 'null',
  }),
  refuses({
    title: 'a missing spec',
    spec: null,
    problem: 'spec: Required value',
    causes: [{ reason: 'FieldValueRequired', field: 'spec', message: 'Required value' }],
  }),
  refuses({
    title: 'a missing required field',
    spec: { ipam: { pools: { requested: [{ needed: {} }] } } },
    problem: 'spec.ipam.pools.requested[0].pool: Required value',
    causes: [{ reason: 'FieldValueRequired', field: 'spec.ipam.pools.requested[0].pool' }],
  }),
  refuses({
    title: 'a text that is too short',
    spec: { ipam: { pools: { allocated: [{ pool: '' }] } } },
    problem:
      'spec.ipam.pools.allocated[0].pool: Invalid value: "": spec.ipam.pools.allocated[0].pool in body should be at least 1 chars long',
    causes: invalidCause('spec.ipam.pools.allocated[0].pool'),
  }),
  refuses({
    title: 'texts that are not CIDRs',
    spec: {
      ipam: {
        pools: { allocated: [{ pool: 'p', cidrs: ['x', 5, '10.0.0.0/33', '10.0.0.1/24', 'fd00::/8'] }] },
      },
    },
    problem:
      '[spec.ipam.pools.allocated[0].cidrs[0]: Invalid value: "x": spec.ipam.pools.allocated[0].cidrs[0] in body must be of type cidr: "x", spec.ipam.pools.allocated[0].cidrs[1]: Invalid value: "int64": spec.ipam.pools.allocated[0].cidrs[1] in body must be of type cidr: "int64", spec.ipam.pools.allocated[0].cidrs[2]: Invalid value: "10.0.0.0/33": spec.ipam.pools.allocated[0].cidrs[2] in body must be of type cidr: "10.0.0.0/33"]',
    causes: [
      { reason: 'FieldValueTypeInvalid', field: 'spec.ipam.pools.allocated[0].cidrs[0]' },
      { reason: 'FieldValueTypeInvalid', field: 'spec.ipam.pools.allocated[0].cidrs[1]' },
      { reason: 'FieldValueTypeInvalid', field: 'spec.ipam.pools.allocated[0].cidrs[2]' },
    ],
  }),
  refuses({
    title: 'a name with capitals',
    name: 'Bad_Name',
    problem: `metadata.name: Invalid value: "Bad_Name": ${subdomain}`,
    causes: invalidCause('metadata.name'),
  }),
  refuses({
    title: 'no name',
    name: '',
    problem: 'metadata.name: Required value: name or generateName is required',
    causes: [{ reason: 'FieldValueRequired', field: 'metadata.name' }],
  }),
  refuses({
    title: 'a label with a space in its key',
    metadata: { labels: { 'a b': 'x' } },
    problem: `metadata.labels: Invalid value: "a b": ${qualified}`,
    causes: invalidCause('metadata.labels'),
  }),
  refuses({
    title: 'an annotation with a space in its key',
    metadata: { annotations: { 'a b': 'x' } },
    problem: `metadata.annotations: Invalid value: "a b": ${qualified}`,
    causes: invalidCause('metadata.annotations'),
  }),
  refuses({
    title: 'a finalizer with a space',
    metadata: { finalizers: ['a b'] },
    problem: `metadata.finalizers: Invalid value: "a b": ${qualified}`,
    causes: invalidCause('metadata.finalizers'),
  }),
  refuses({
    title: 'an owner without an identity',
    metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node' }] },
    problem:
      '[metadata.ownerReferences.name: Invalid value: "": name must not be empty, metadata.ownerReferences.uid: Invalid value: "": uid must not be empty]',
    causes: [
      { reason: 'FieldValueInvalid', field: 'metadata.ownerReferences.name' },
      { reason: 'FieldValueInvalid', field: 'metadata.ownerReferences.uid' },
    ],
  }),
  step(
    'refuses a label that is no text before any other check',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('v1', {}, { labels: { a: 1 } }) },
    {
      status: 400,
      reason: 'BadRequest',
      message:
        'CiliumNode in version "v2" cannot be handled as a CiliumNode: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    },
  ),
  step(
    'warns of a finalizer without a domain',
    {
      method: 'POST',
      path: `${ciliumNodes}?dryRun=All`,
      body: ciliumNode('v1', {}, { finalizers: ['mine'] }),
    },
    {
      status: 201,
      warnings: [
        'metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
      ],
    },
  ),
  step(
    'treats nulls as absent, and whole numbers as integers',
    {
      method: 'POST',
      path: `${ciliumNodes}?dryRun=All`,
      text: '{"apiVersion":"cilium.io/v2","kind":"CiliumNode","metadata":{"name":"v1"},"spec":{"nodeidentity":1e3,"bootid":null,"ipam":{"pre-allocate":3.0,"podCIDRs":null,"pool":{"10.0.0.1":null,"10.0.0.2":{"owner":null}}}}}',
    },
    {
      status: 201,
      body: {
        spec: {
          nodeidentity: 1000,
          bootid: absent,
          ipam: { 'pre-allocate': 3, podCIDRs: absent, pool: { '10.0.0.1': absent, '10.0.0.2': {} } },
        },
      },
    },
  ),
  step(
    'reports every wrong field',
    {
      method: 'POST',
      path: ciliumNodes,
      body: ciliumNode('v1', { ipam: { 'min-allocate': -1, 'max-allocate': -2 } }),
    },
    {
      status: 422,
      message: like(
        /min-allocate: Invalid value: -1.*max-allocate: Invalid value: -2|max-allocate.*min-allocate/,
      ),
    },
  ),
];
