// PUT on a CiliumNode and on its status: versions, uids, and what each path may change.
import { absent, like, type Step, step } from '../step.ts';
import { ciliumNode, ciliumNodes } from './paths.ts';

const a1 = `${ciliumNodes}/a1`;
const modified =
  'Operation cannot be fulfilled on ciliumnodes.cilium.io "a1": the object has been modified; please apply your changes to the latest version and try again';

export const updating: readonly Step[] = [
  step(
    'refuses a replacement without a version',
    { method: 'PUT', path: a1, body: ciliumNode('a1') },
    {
      status: 422,
      reason: 'Invalid',
      message:
        'ciliumnodes.cilium.io "a1" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
      body: { details: { kind: 'ciliumnodes', causes: [{ field: 'metadata.resourceVersion' }] } },
    },
  ),
  step(
    'refuses a replacement of an old version',
    { method: 'PUT', path: a1, body: ciliumNode('a1', {}, { resourceVersion: '1' }) },
    {
      status: 409,
      reason: 'Conflict',
      message: modified,
      body: { details: { kind: 'ciliumnodes', name: 'a1' } },
    },
  ),
  step(
    'refuses an invalid version',
    { method: 'PUT', path: a1, body: ciliumNode('a1', {}, { resourceVersion: 'x' }) },
    { status: 500, message: 'strconv.ParseUint: parsing "x": invalid syntax' },
  ),
  step(
    'refuses a replacement of another uid',
    { method: 'PUT', path: a1, body: ciliumNode('a1', {}, { resourceVersion: '{rv}', uid: 'other' }) },
    {
      status: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on ciliumnodes.cilium.io "a1": StorageError: invalid object, Code: 4, Key: /registry/cilium.io/ciliumnodes/a1, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: {uid}',
    },
  ),
  step(
    'refuses a replacement under another name',
    { method: 'PUT', path: a1, body: ciliumNode('a2', {}, { resourceVersion: '{rv}' }) },
    { status: 400, message: 'the name of the object (a2) does not match the name on the URL (a1)' },
  ),
  step(
    'refuses a replacement without a name',
    { method: 'PUT', path: a1, body: ciliumNode('', {}, { name: undefined, resourceVersion: '{rv}' }) },
    {
      status: 400,
      message: 'the name of the object (a1 based on URL) was undeterminable: name must be provided',
    },
  ),
  step(
    'creates nothing by PUT',
    { method: 'PUT', path: `${ciliumNodes}/none`, body: ciliumNode('none', {}, { resourceVersion: '1' }) },
    { status: 404, reason: 'NotFound' },
  ),
  step(
    'replaces the spec with a new generation and ignores the status',
    {
      method: 'PUT',
      path: a1,
      body: ciliumNode(
        'a1',
        { ipam: { 'pre-allocate': 9 } },
        { resourceVersion: '{rv}', uid: '{uid}', creationTimestamp: '2001-01-01T00:00:00Z', generation: 70 },
        { status: { ipam: { used: { '10.0.0.1': {} } } } },
      ),
    },
    {
      status: 200,
      body: {
        metadata: { uid: '{uid}', generation: 2, labels: absent, creationTimestamp: like(/^2[^0]|^20[^0]/) },
        spec: { ipam: { 'pre-allocate': 9, pool: absent } },
        status: absent,
      },
      capture: { rv2: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'does nothing when nothing changes',
    {
      method: 'PUT',
      path: a1,
      body: ciliumNode('a1', { ipam: { 'pre-allocate': 9 } }, { resourceVersion: '{rv2}' }),
    },
    { status: 200, body: { metadata: { resourceVersion: '{rv2}', generation: 2 } } },
  ),
  step(
    'replaces the status and nothing else, without a new generation',
    {
      method: 'PUT',
      path: `${a1}/status`,
      body: ciliumNode(
        'a1',
        { ipam: { 'pre-allocate': 1 } },
        { resourceVersion: '{rv2}', labels: { ignored: 'yes' } },
        { status: { ipam: { used: { '10.0.0.1': { owner: 'pod' } }, bogus: 1 } } },
      ),
    },
    {
      status: 200,
      warnings: ['unknown field "status.ipam.bogus"'],
      body: {
        metadata: { generation: 2, labels: absent },
        spec: { ipam: { 'pre-allocate': 9 } },
        status: { ipam: { used: { '10.0.0.1': { owner: 'pod' } }, bogus: absent } },
      },
      capture: { rv3: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'refuses a status for an old version',
    {
      method: 'PUT',
      path: `${a1}/status`,
      body: ciliumNode('a1', {}, { resourceVersion: '{rv2}' }, { status: {} }),
    },
    { status: 409, reason: 'Conflict', message: modified },
  ),
  step(
    'refuses a status without a version',
    { method: 'PUT', path: `${a1}/status`, body: ciliumNode('a1', {}, {}, { status: {} }) },
    { status: 422, message: like(/must be specified for an update$/) },
  ),
  step(
    'refuses a status for another uid',
    {
      method: 'PUT',
      path: `${a1}/status`,
      body: ciliumNode('a1', {}, { resourceVersion: '{rv3}', uid: 'other' }, { status: {} }),
    },
    { status: 409, reason: 'Conflict', message: like(/Precondition failed: UID in precondition: other/) },
  ),
  step(
    'keeps the status when the object is replaced without one',
    {
      method: 'PUT',
      path: a1,
      body: ciliumNode(
        'a1',
        { ipam: { 'pre-allocate': 8 } },
        { resourceVersion: '{rv3}', labels: { zone: 'a' } },
      ),
    },
    {
      status: 200,
      body: { metadata: { generation: 3 }, status: { ipam: { used: { '10.0.0.1': { owner: 'pod' } } } } },
      capture: { rv: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'replaces in a dry run',
    {
      method: 'PUT',
      path: `${a1}?dryRun=All`,
      body: ciliumNode('a1', { 'instance-id': 'i-1' }, { resourceVersion: '{rv}' }),
    },
    { status: 200, body: { metadata: { generation: 4 }, spec: { 'instance-id': 'i-1' } } },
  ),
  step(
    'stores nothing of that dry run',
    { method: 'GET', path: a1 },
    {
      status: 200,
      body: { metadata: { resourceVersion: '{rv}', generation: 3 }, spec: { 'instance-id': absent } },
    },
  ),
];
