// DELETE: preconditions, finalizers, and the object while its finalizers are pending.
import { absent, like, type Step, step } from '../step.ts';
import { ciliumNode, ciliumNodes } from './paths.ts';

const d1 = `${ciliumNodes}/d1`;
const d2 = `${ciliumNodes}/d2`;

export const deleting: readonly Step[] = [
  step(
    'creates a CiliumNode to delete',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('d1') },
    { status: 201, capture: { duid: ['metadata', 'uid'], drv: ['metadata', 'resourceVersion'] } },
  ),
  step(
    'refuses to delete under another uid',
    { method: 'DELETE', path: d1, body: { preconditions: { uid: 'other' } } },
    {
      status: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on CiliumNode.cilium.io "d1": the UID in the precondition (other) does not match the UID in record ({duid}). The object might have been deleted and then recreated',
    },
  ),
  step(
    'refuses to delete under another version',
    { method: 'DELETE', path: d1, body: { preconditions: { resourceVersion: '1' } } },
    {
      status: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on CiliumNode.cilium.io "d1": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ({drv}). The object might have been modified',
    },
  ),
  step(
    'refuses an unknown propagation policy',
    { method: 'DELETE', path: d1, body: { propagationPolicy: 'Bogus' } },
    {
      status: 422,
      message:
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"',
    },
  ),
  step(
    'refuses options that are no JSON',
    { method: 'DELETE', path: d1, text: 'garbage' },
    {
      status: 500,
      message:
        "couldn't get version/kind; json parse error: invalid character 'g' looking for beginning of value",
    },
  ),
  step(
    'keeps the object in a dry run',
    { method: 'DELETE', path: `${d1}?dryRun=All` },
    { status: 200, body: { kind: 'Status', status: 'Success' } },
  ),
  step(
    'deletes an object that meets the preconditions',
    { method: 'DELETE', path: d1, body: { preconditions: { uid: '{duid}', resourceVersion: '{drv}' } } },
    {
      status: 200,
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Success',
        details: { name: 'd1', group: 'cilium.io', kind: 'ciliumnodes', uid: '{duid}' },
        code: absent,
      },
    },
  ),
  step(
    'no longer finds the object to delete',
    { method: 'DELETE', path: d1 },
    { status: 404, reason: 'NotFound', message: 'ciliumnodes.cilium.io "d1" not found' },
  ),
  step(
    'creates an object with a finalizer',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('d2', {}, { finalizers: ['example.org/hold'] }) },
    { status: 201 },
  ),
  step(
    'marks the object as being deleted',
    { method: 'DELETE', path: d2 },
    {
      status: 200,
      body: {
        kind: 'CiliumNode',
        metadata: {
          deletionTimestamp: like(/Z$/),
          deletionGracePeriodSeconds: 0,
          finalizers: ['example.org/hold'],
          generation: 2,
        },
      },
      capture: { drv: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'marks the object only once',
    { method: 'DELETE', path: d2 },
    { status: 200, body: { metadata: { resourceVersion: '{drv}', generation: 2 } } },
  ),
  step(
    'accepts no new finalizer on the object',
    {
      method: 'PATCH',
      path: d2,
      body: { metadata: { finalizers: ['example.org/hold', 'example.org/more'] } },
    },
    {
      status: 422,
      message:
        'CiliumNode.cilium.io "d2" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.org/more"}',
    },
  ),
  step(
    'still accepts a change of the object',
    { method: 'PATCH', path: d2, body: { spec: { 'instance-id': 'i-1' } } },
    {
      status: 200,
      body: { metadata: { generation: 3, deletionTimestamp: like(/Z$/) } },
      capture: { drv: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'deletes the object with its last finalizer',
    { method: 'PATCH', path: d2, body: { metadata: { finalizers: null } } },
    { status: 200, body: { metadata: { finalizers: absent, resourceVersion: '{drv}' } } },
  ),
  step('no longer finds the object', { method: 'GET', path: d2 }, { status: 404 }),
  step(
    'creates another object',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('d2') },
    { status: 201 },
  ),
  step(
    'waits for the dependents when the request says so',
    { method: 'DELETE', path: `${d2}?propagationPolicy=Foreground` },
    {
      status: 200,
      body: { kind: 'CiliumNode', metadata: { finalizers: ['foregroundDeletion'], generation: 2 } },
    },
  ),
  step(
    'deletes that object too',
    { method: 'PATCH', path: d2, body: { metadata: { finalizers: [] } } },
    { status: 200 },
  ),
  step(
    'creates the first of two',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('e1', {}, { labels: { set: 'e' } }) },
    { status: 201 },
  ),
  step(
    'creates the second of two',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('e2', {}, { labels: { set: 'e' } }) },
    { status: 201 },
  ),
  step(
    'deletes a selection and returns what it deleted',
    { method: 'DELETE', path: `${ciliumNodes}?labelSelector=set%3De` },
    {
      status: 200,
      body: { kind: 'CiliumNodeList', items: [{ metadata: { name: 'e1' } }, { metadata: { name: 'e2' } }] },
    },
  ),
  step(
    'keeps everything else',
    { method: 'GET', path: ciliumNodes },
    { status: 200, body: { items: [{ metadata: { name: 'a1' } }] } },
  ),
];
