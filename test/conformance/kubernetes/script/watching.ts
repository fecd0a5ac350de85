// Watches: where they begin, what a selection sees of a change, bookmarks, and versions that are too old.
import { absent, like, present, type Step, step } from '../step.ts';
import { ciliumNode, ciliumNodes, table } from './paths.ts';

const w1 = `${ciliumNodes}/w1`;
const initialEnd = {
  metadata: { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: like(/^\d+$/) },
};

const changes: readonly Step[] = [
  step(
    'makes',
    { method: 'POST', path: ciliumNodes, body: ciliumNode('w1', {}, { labels: { on: 'no' } }) },
    { status: 201 },
  ),
  step(
    'turns on',
    { method: 'PATCH', path: w1, body: { metadata: { labels: { on: 'yes' } } } },
    { status: 200 },
  ),
  step('changes', { method: 'PATCH', path: w1, body: { spec: { 'instance-id': 'i-1' } } }, { status: 200 }),
  step(
    'turns off',
    { method: 'PATCH', path: w1, body: { metadata: { labels: { on: 'no' } } } },
    { status: 200, capture: { off: ['metadata', 'resourceVersion'] } },
  ),
  step('changes nothing', { method: 'PATCH', path: w1, body: {} }, { status: 200 }),
  step('deletes', { method: 'DELETE', path: w1 }, { status: 200 }),
];

function watches(
  title: string,
  query: string,
  seconds: number,
): Omit<Step & { kind: 'watch' }, 'during' | 'events'> {
  return { kind: 'watch', title, path: `${ciliumNodes}${query}`, seconds };
}

const now: Step = step(
  'asks for the version',
  { method: 'GET', path: ciliumNodes },
  { status: 200, capture: { now: ['metadata', 'resourceVersion'] } },
);

export const watching: readonly Step[] = [
  now,
  {
    ...watches('sees every change after a version', '?resourceVersion={now}', 2),
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
    ...watches('sees them again from that version', '?resourceVersion={now}', 1),
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
    ...watches('sees the rest from a later version', '?resourceVersion={off}', 1),
    during: [],
    events: [{ type: 'DELETED', object: { metadata: { name: 'w1' } } }],
  },
  now,
  {
    ...watches('sees a selection only', '?resourceVersion={now}&labelSelector=on%3Dyes', 2),
    during: changes,
    events: [
      { type: 'ADDED', object: { metadata: { labels: { on: 'yes' } } } },
      { type: 'MODIFIED', object: { spec: { 'instance-id': 'i-1' } } },
      { type: 'DELETED', object: { metadata: { labels: { on: 'yes' }, resourceVersion: '{off}' } } },
    ],
  },
  now,
  {
    ...watches('sees one name only', '?resourceVersion={now}&fieldSelector=metadata.name%3Dother', 1),
    during: changes,
    events: [],
  },
  {
    ...watches('begins with what is there', '', 1),
    during: [],
    events: [{ type: 'ADDED', object: { metadata: { name: 'a1' } } }],
  },
  {
    ...watches(
      'begins with what is there in any state',
      '?resourceVersion=0&fieldSelector=metadata.name%3Da1',
      1,
    ),
    during: [],
    events: [{ type: 'ADDED', object: { metadata: { name: 'a1' } } }],
  },
  {
    ...watches('says when that is over, where bookmarks are wanted', '?allowWatchBookmarks=true', 1),
    needs: 'watch progress',
    during: [],
    events: [
      { type: 'ADDED', object: { metadata: { name: 'a1' } } },
      { type: 'BOOKMARK', object: { kind: 'CiliumNode', apiVersion: 'cilium.io/v2', ...initialEnd } },
    ],
  },
  {
    ...watches(
      'says so when asked for it',
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
      'begins with nothing where that is wanted',
      '?sendInitialEvents=false&resourceVersionMatch=NotOlderThan',
      1,
    ),
    during: [],
    events: [],
  },
  {
    ...watches('cannot begin too far back', '?resourceVersion=1', 1),
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
    ...watches('waits for a version that is not there yet', '?resourceVersion=99999999', 1),
    during: [],
    events: [],
  },
  {
    ...watches(
      'cannot show initial events of a version that is not there yet',
      '?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99999999',
      5,
    ),
    during: [],
    events: [{ type: 'ERROR', object: { code: 504, reason: 'Timeout' } }],
  },
  {
    ...watches('shows tables, with their headers once', '?resourceVersion=0', 2),
    accept: table,
    during: [
      step('makes', { method: 'POST', path: ciliumNodes, body: ciliumNode('w1') }, { status: 201 }),
      step('deletes', { method: 'DELETE', path: w1 }, { status: 200 }),
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
    ...watches('shows metadata alone', '?resourceVersion=0', 1),
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
    'refuses tables that begin with a list and end it',
    {
      method: 'GET',
      path: `${ciliumNodes}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true`,
      accept: table,
    },
    { status: 406, reason: 'NotAcceptable' },
  ),
  step(
    'refuses a version that is none',
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
    'shows one object though a watch is asked for',
    { method: 'GET', path: `${ciliumNodes}/a1?watch=1&timeoutSeconds=1` },
    { status: 200, body: { kind: 'CiliumNode' } },
  ),
];
