// Leases and events, as a controller uses them.
import { absent, like, type Step, step } from '../step.ts';
import { events, leases, ownEvents } from './paths.ts';

const lease = (name: string, spec: object, metadata: object = {}): object => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, ...metadata },
  spec,
});

const leaseSteps: readonly Step[] = [
  step('starts with no Leases', { method: 'DELETE', path: leases }, { status: 200 }),
  step(
    'creates a Lease',
    {
      method: 'POST',
      path: leases,
      body: lease('leader', {
        holderIdentity: 'me',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.123456Z',
        renewTime: '2026-01-01T01:00:00.000000+01:00',
        leaseTransitions: 0,
      }),
    },
    {
      status: 201,
      body: {
        metadata: { generation: absent },
        spec: {
          acquireTime: '2026-01-01T00:00:00.123456Z',
          renewTime: '2026-01-01T00:00:00.000000Z',
          leaseTransitions: 0,
        },
      },
      capture: { lrv: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'refuses a second creation of the Lease',
    { method: 'POST', path: leases, body: lease('leader', {}) },
    { status: 409, reason: 'AlreadyExists', message: 'leases.coordination.k8s.io "leader" already exists' },
  ),
  step(
    'renews the Lease',
    {
      method: 'PUT',
      path: `${leases}/leader`,
      body: lease('leader', { holderIdentity: 'me' }, { resourceVersion: '{lrv}' }),
    },
    { status: 200, body: { spec: { holderIdentity: 'me', leaseDurationSeconds: absent } } },
  ),
  step(
    'refuses to change the Lease from an old version',
    {
      method: 'PUT',
      path: `${leases}/leader`,
      body: lease('leader', { holderIdentity: 'you' }, { resourceVersion: '{lrv}' }),
    },
    {
      status: 409,
      reason: 'Conflict',
      message: like(
        /^Operation cannot be fulfilled on leases.coordination.k8s.io "leader": the object has been modified;/,
      ),
    },
  ),
  step(
    'refuses to change the Lease without a version',
    { method: 'PUT', path: `${leases}/leader`, body: lease('leader', { holderIdentity: 'you' }) },
    { status: 422, message: like(/must be specified for an update$/) },
  ),
  step(
    'creates a Lease by PUT',
    { method: 'PUT', path: `${leases}/other`, body: lease('other', { holderIdentity: 'you' }) },
    { status: 201, body: { spec: { holderIdentity: 'you' } } },
  ),
  step(
    'releases the Lease and returns it',
    { method: 'PATCH', path: `${leases}/other`, body: { spec: { holderIdentity: '' } } },
    { status: 200, body: { spec: { holderIdentity: '' } } },
  ),
  step(
    'refuses a duration of zero',
    { method: 'POST', path: leases, body: lease('l3', { leaseDurationSeconds: 0, leaseTransitions: -1 }) },
    {
      status: 422,
      message:
        'Lease.coordination.k8s.io "l3" is invalid: [spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]',
    },
  ),
  step(
    'refuses a time without microseconds',
    { method: 'POST', path: leases, body: lease('l3', { renewTime: '2026-01-01T00:00:00Z' }) },
    {
      status: 400,
      message:
        'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    },
  ),
  step(
    'deletes the Lease',
    { method: 'DELETE', path: `${leases}/leader` },
    { status: 200, body: { kind: 'Status' } },
  ),
];

const event = (name: string, more: object): object => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name },
  ...more,
});
const ownEvent = (name: string, more: object): object => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name },
  regarding: { kind: 'CiliumNode', apiVersion: 'cilium.io/v2', name: 'a1' },
  ...more,
});

const complete = {
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingController: 'example.org/controller',
  reportingInstance: 'one',
  action: 'Allocate',
  reason: 'Exhausted',
  type: 'Warning',
  note: 'no address is left',
};

const eventSteps: readonly Step[] = [
  step('starts with no Events', { method: 'DELETE', path: events }, { status: 200 }),
  step(
    'creates an Event',
    {
      method: 'POST',
      path: events,
      body: event('e1', {
        involvedObject: { kind: 'Node', name: 'n1' },
        reason: 'Started',
        message: 'up',
        type: 'Normal',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'kubelet' },
      }),
    },
    { status: 201, body: { eventTime: null, reportingComponent: '', reportingInstance: '', count: 1 } },
  ),
  step(
    'refuses an Event about another namespace',
    {
      method: 'POST',
      path: events,
      body: event('e2', { involvedObject: { kind: 'Pod', name: 'x', namespace: 'other' } }),
    },
    {
      status: 422,
      message:
        'Event "e2" is invalid: involvedObject.namespace: Invalid value: "other": does not match event.namespace',
    },
  ),
  step(
    'refuses an Event about a cluster-wide object outside the default namespace',
    {
      method: 'POST',
      path: '/api/v1/namespaces/kube-system/events',
      body: event('e2', { involvedObject: { kind: 'CiliumNode', name: 'a1' } }),
    },
    {
      status: 422,
      message: like(/involvedObject.namespace: Invalid value: "": does not match event.namespace$/),
    },
  ),
  step(
    'counts an Event up',
    { method: 'PATCH', path: `${events}/e1`, body: { count: 2, lastTimestamp: '2026-01-01T00:01:00Z' } },
    { status: 200, body: { count: 2, lastTimestamp: '2026-01-01T00:01:00Z' } },
  ),
  step(
    'creates an Event in the group of Events',
    { method: 'POST', path: ownEvents, body: ownEvent('e3', complete) },
    {
      status: 201,
      body: { apiVersion: 'events.k8s.io/v1', note: 'no address is left', deprecatedFirstTimestamp: null },
    },
  ),
  step(
    'shows that Event in the core group',
    { method: 'GET', path: `${events}/e3` },
    {
      status: 200,
      body: {
        apiVersion: 'v1',
        involvedObject: { kind: 'CiliumNode', name: 'a1' },
        message: 'no address is left',
        reportingComponent: 'example.org/controller',
        note: absent,
      },
    },
  ),
  step(
    'shows the first Event in the group of Events',
    { method: 'GET', path: `${ownEvents}/e1` },
    { status: 200, body: { regarding: { kind: 'Node', name: 'n1' }, note: 'up', deprecatedCount: 2 } },
  ),
  step(
    'validates strictly in the group of Events',
    { method: 'POST', path: ownEvents, body: ownEvent('e4', {}) },
    {
      status: 422,
      message:
        'Event "e4" is invalid: [eventTime: Required value, type: Invalid value: "": has invalid value: ]',
    },
  ),
  step(
    'selects Events by their object',
    { method: 'GET', path: `${events}?fieldSelector=involvedObject.kind%3DCiliumNode,reason%3DExhausted` },
    { status: 200, body: { items: [{ metadata: { name: 'e3' } }] } },
  ),
  step(
    'selects Events in the group of Events',
    { method: 'GET', path: `${ownEvents}?fieldSelector=regarding.name%3Dn1` },
    { status: 200, body: { items: [{ metadata: { name: 'e1' } }] } },
  ),
];

export const leasesAndEvents: readonly Step[] = [...leaseSteps, ...eventSteps];
