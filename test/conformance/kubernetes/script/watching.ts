// Watches: their start, the events of a selection, bookmarks, and versions that are too old.
import { absent, like, present, type Step, step } from '../step.ts';
import { ciliumNode, ciliumNodes, table } from './paths.ts';

const w1 = `${ciliumNodes}/w1`;
const initialEnd = {
  metadata: { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: like(/^\d+$/) },
};

const changes: readonly Step[] = [
  step(
    'creates a CiliumNode',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('w1', {}, { labels: { on: 'no' } }) },
    { status: 201 },
  ),
  step(
    'labels a CiliumNode into the selection',
    { method: 'PATCH', path: w1, body: { metadata: { labels: { on: 'yes' } } } },
    { status: 200 },
  ),
  step(
    'changes a CiliumNode',
    { method: 'PATCH', path: w1, body: { spec: { 'instance-id': 'i-1' } } },
    { status: 200 },
  ),
  step(
    'labels a CiliumNode out of the selection',
    { method: 'PATCH', path: w1, body: { metadata: { labels: { on: 'no' } } } },
    { status: 200, capture: { off: ['metadata', 'resourceVersion'] } },
  ),
  step('patches nothing', { method: 'PATCH', path: w1, body: {} }, { status: 200 }),
  step('deletes a CiliumNode', { method: 'DELETE', path: w1 }, { status: 200 }),
];

/** How long a watch lasts during which changes are made, in seconds: a busy server needs several for them. */
const amidChanges = 6;
/** How long a watch lasts that first reads the newest state, in seconds: a busy server needs several for that. */
const amidRead = 4;

function watches(
  title: string,
  query: string,
  seconds: number,
): Omit<Step & { kind: 'watch' }, 'during' | 'events'> {
  return { kind: 'watch', title, path: `${ciliumNodes}${query}`, seconds };
}

const now: Step = step(
  'returns the current version',
  { method: 'GET', path: ciliumNodes },
  { status: 200, capture: { now: ['metadata', 'resourceVersion'] } },
);

export const watching: readonly Step[] = [
  now,
  {
    ...watches('shows every change after a version', '?resourceVersion={now}', amidChanges),
    during: changes,
    events: [
      { type: 'ADDED', object: { kind: 'CiliumNode', metadata: { name: 'w1', labels: { on: 'no' } } } },
      { type: 'MODIFIED', object: { metadata: { labels: { on: 'yes' } } } },
      { type: 'MODIFIED', object: { metadata: { generation: 2 }, spec: { 'instance-id': 'i-1' } } },
      { type: 'MODIFIED', object: { metadata: { labels: { on: 'no' }, resourceVersion: '{off}' } } },
      { type: 'DELETED', object: { metadata: { name: 'w1', resourceVersion: like(/^\d+$/) } } },
    ],
  },
  {
    ...watches('shows the same changes again from that version', '?resourceVersion={now}', 1),
    during: [],
    events: [
      { type: 'ADDED', object: {} },
      { type: 'MODIFIED', object: {} },
      { type: 'MODIFIED', object: {} },
      { type: 'MODIFIED', object: {} },
      { type: 'DELETED', object: {} },
    ],
  },
  {
    ...watches('shows the rest from a later version', '?resourceVersion={off}', 1),
    during: [],
    events: [{ type: 'DELETED', object: { metadata: { name: 'w1' } } }],
  },
  now,
  {
    ...watches('shows a selection only', '?resourceVersion={now}&labelSelector=on%3Dyes', amidChanges),
    during: changes,
    events: [
      { type: 'ADDED', object: { metadata: { labels: { on: 'yes' } } } },
      { type: 'MODIFIED', object: { spec: { 'instance-id': 'i-1' } } },
      { type: 'DELETED', object: { metadata: { labels: { on: 'yes' }, resourceVersion: '{off}' } } },
    ],
  },
  now,
  {
    ...watches('shows one name only', '?resourceVersion={now}&fieldSelector=metadata.name%3Dother', 1),
    during: changes,
    events: [],
  },
  {
    ...watches('starts with the current objects', '', amidRead),
    during: [],
    events: [{ type: 'ADDED', object: { metadata: { name: 'a1' } } }],
  },
  {
    ...watches(
      'starts with the objects of any state',
      '?resourceVersion=0&fieldSelector=metadata.name%3Da1',
      1,
    ),
    during: [],
    events: [{ type: 'ADDED', object: { metadata: { name: 'a1' } } }],
  },
  {
    ...watches('marks the end of the initial objects by a bookmark', '?allowWatchBookmarks=true', amidRead),
    needs: 'watch progress',
    during: [],
    events: [
      { type: 'ADDED', object: { metadata: { name: 'a1' } } },
      { type: 'BOOKMARK', object: { kind: 'CiliumNode', apiVersion: 'cilium.io/v2', ...initialEnd } },
    ],
  },
  {
    ...watches(
      'marks the end of the initial objects on request',
      '?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
      1,
    ),
    needs: 'watch progress',
    during: [],
    events: [
      { type: 'ADDED', object: { metadata: { name: 'a1' } } },
      { type: 'BOOKMARK', object: initialEnd },
    ],
  },
  {
    ...watches(
      'starts with no objects when the request says so',
      '?sendInitialEvents=false&resourceVersionMatch=NotOlderThan',
      1,
    ),
    during: [],
    events: [],
  },
  {
    ...watches('refuses to start too far back', '?resourceVersion=1', 1),
    during: [],
    events: [
      {
        type: 'ERROR',
        object: {
          kind: 'Status',
          code: 410,
          reason: 'Expired',
          message: like(/^too old resource version: 1 \(\d+\)$/),
        },
      },
    ],
  },
  {
    ...watches('waits for a future version', '?resourceVersion=99999999', 1),
    during: [],
    events: [],
  },
  {
    ...watches(
      'refuses initial events of a future version',
      '?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99999999',
      5,
    ),
    during: [],
    events: [{ type: 'ERROR', object: { code: 504, reason: 'Timeout' } }],
  },
  {
    ...watches('shows tables, with their headers once', '?resourceVersion=0', amidChanges),
    accept: table,
    during: [
      step(
        'creates a CiliumNode',
        { method: 'POST', path: ciliumNodes, body: ciliumNode('w1') },
        { status: 201 },
      ),
      step('deletes a CiliumNode', { method: 'DELETE', path: w1 }, { status: 200 }),
    ],
    events: [
      {
        type: 'ADDED',
        object: {
          kind: 'Table',
          columnDefinitions: [{}, {}, {}, {}],
          rows: [{ object: { metadata: { name: 'a1' } } }],
        },
      },
      {
        type: 'ADDED',
        object: { kind: 'Table', columnDefinitions: null, rows: [{ object: { metadata: { name: 'w1' } } }] },
      },
      {
        type: 'DELETED',
        object: { kind: 'Table', columnDefinitions: null, rows: [{ cells: ['w1', null, null, present] }] },
      },
    ],
  },
  {
    ...watches('shows metadata only', '?resourceVersion=0', 1),
    accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    during: [],
    events: [
      {
        type: 'ADDED',
        object: {
          kind: 'PartialObjectMetadata',
          apiVersion: 'meta.k8s.io/v1',
          metadata: { name: 'a1' },
          spec: absent,
        },
      },
    ],
  },
  step(
    'refuses tables when bookmarks are requested',
    {
      method: 'GET',
      path: `${ciliumNodes}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true`,
      accept: table,
    },
    { status: 406, reason: 'NotAcceptable' },
  ),
  step(
    'refuses an invalid version',
    { method: 'GET', path: `${ciliumNodes}?watch=1&timeoutSeconds=1&resourceVersion=x` },
    { status: 500, message: like(/^resourceVersion: Invalid value: "x"/) },
  ),
  step(
    'refuses initial events without a match',
    { method: 'GET', path: `${ciliumNodes}?watch=1&timeoutSeconds=1&sendInitialEvents=true` },
    {
      status: 422,
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    },
  ),
  step(
    'refuses a match without initial events',
    { method: 'GET', path: `${ciliumNodes}?watch=1&timeoutSeconds=1&resourceVersionMatch=NotOlderThan` },
    {
      status: 422,
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    },
  ),
  step(
    'returns one object when a watch of it by path is requested',
    { method: 'GET', path: `${ciliumNodes}/a1?watch=1&timeoutSeconds=1` },
    { status: 200, body: { kind: 'CiliumNode' } },
  ),
];
