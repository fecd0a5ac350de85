// Lists: selectors, pages, past states, and tokens that have expired.
import { absent, like, present, type Step, step } from '../step.ts';
import { ciliumNode, ciliumNodes, configMaps, nodes, pods } from './paths.ts';

function makes(name: string, labels: object): Step {
  return step(
    `creates ${name}`,
    { method: 'POST', path: ciliumNodes, body: ciliumNode(name, {}, { labels }) },
    { status: 201, capture: { rv: ['metadata', 'resourceVersion'] } },
  );
}

function lists(title: string, query: string, names: readonly string[]): Step {
  return step(
    title,
    { method: 'GET', path: `${ciliumNodes}?${query}` },
    { status: 200, body: { kind: 'CiliumNodeList', items: names.map((name) => ({ metadata: { name } })) } },
  );
}

function refuses(title: string, query: string, message: string, path = ciliumNodes): Step {
  return step(
    title,
    { method: 'GET', path: `${path}?${query}` },
    { status: 400, reason: 'BadRequest', message },
  );
}

function invalidOptions(title: string, query: string, problem: string): Step {
  return step(
    title,
    { method: 'GET', path: `${ciliumNodes}?${query}` },
    { status: 422, reason: 'Invalid', message: `ListOptions.meta.k8s.io "" is invalid: ${problem}` },
  );
}

const selecting: readonly Step[] = [
  makes('l1', { set: 'l', n: '1' }),
  makes('l2', { set: 'l', n: '2', tier: 'gold' }),
  makes('l3', { set: 'l', n: '3', tier: 'silver' }),
  lists('selects by a label', 'labelSelector=n%3D2', ['l2']),
  lists('selects by the lack of a value', 'labelSelector=set%3Dl,tier!%3Dgold', ['l1', 'l3']),
  lists('selects by a set', 'labelSelector=n+in+(1,3)', ['l1', 'l3']),
  lists('selects by the lack in a set', 'labelSelector=set,n+notin+(1,3)', ['l2']),
  lists('selects by the presence of a label', 'labelSelector=set,tier', ['l2', 'l3']),
  lists('selects by the absence of a label', 'labelSelector=set,!tier', ['l1']),
  lists('selects by a number', 'labelSelector=n%3E1', ['l2', 'l3']),
  lists('selects by name', 'fieldSelector=metadata.name%3Dl2', ['l2']),
  lists('selects by other names', 'fieldSelector=metadata.name!%3Dl2&labelSelector=set%3Dl', ['l1', 'l3']),
  refuses(
    'refuses an open set',
    'labelSelector=n+in+(1',
    "unable to parse requirement: found '', expected: ',' or ')'",
  ),
  refuses('refuses two words', 'labelSelector=n%3D1+2', "found '2', expected: ',' or 'end of string'"),
  refuses(
    'refuses a lone sign',
    'labelSelector=!!',
    "unable to parse requirement: found '!', expected: identifier",
  ),
  refuses(
    'refuses a comparison with no number',
    'labelSelector=n%3Ex',
    "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  ),
  refuses(
    'refuses an unsupported field',
    'fieldSelector=spec.foo%3D1',
    'field label not supported: spec.foo',
  ),
  refuses(
    'refuses an unsupported field of nodes',
    'fieldSelector=spec.foo%3D1',
    'field label not supported: spec.foo',
    nodes,
  ),
  refuses(
    'refuses an unsupported field of pods',
    'fieldSelector=spec.foo%3D1',
    'field label not supported: spec.foo',
    pods,
  ),
  refuses(
    'refuses an unsupported field of config maps',
    'fieldSelector=foo%3D1',
    '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
    configMaps,
  ),
  refuses(
    'refuses an invalid term',
    'fieldSelector=bogus',
    "invalid selector: 'bogus'; can't understand 'bogus'",
  ),
];

const paging: readonly Step[] = [
  step(
    'returns a first page',
    { method: 'GET', path: `${ciliumNodes}?limit=2` },
    {
      status: 200,
      body: {
        items: [{ metadata: { name: 'a1' } }, { metadata: { name: 'l1' } }],
        metadata: { continue: like(/^\S+$/), remainingItemCount: 2, resourceVersion: present },
      },
      capture: { token: ['metadata', 'continue'], listed: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'accepts a change between two pages',
    { method: 'DELETE', path: `${ciliumNodes}/l2` },
    { status: 200 },
  ),
  step(
    'continues in the state of the first page',
    { method: 'GET', path: `${ciliumNodes}?limit=2&continue={token}` },
    {
      status: 200,
      body: {
        items: [{ metadata: { name: 'l2' } }, { metadata: { name: 'l3' } }],
        metadata: { resourceVersion: '{listed}', continue: '' },
      },
    },
  ),
  step(
    'counts no remaining items when there is a selector',
    { method: 'GET', path: `${ciliumNodes}?limit=1&labelSelector=set%3Dl` },
    { status: 200, body: { items: [{}], metadata: { continue: like(/^\S+$/), remainingItemCount: absent } } },
  ),
  step(
    'shows a past state',
    { method: 'GET', path: `${ciliumNodes}?resourceVersion={listed}&resourceVersionMatch=Exact` },
    { status: 200, body: { metadata: { resourceVersion: '{listed}' }, items: [{}, {}, {}, {}] } },
  ),
  step(
    'shows a page of a past state',
    { method: 'GET', path: `${ciliumNodes}?resourceVersion={listed}&limit=3` },
    {
      status: 200,
      body: { metadata: { resourceVersion: '{listed}', remainingItemCount: 1 }, items: [{}, {}, {}] },
    },
  ),
  step(
    'shows a state that is no older than a version',
    { method: 'GET', path: `${ciliumNodes}?resourceVersion={listed}&resourceVersionMatch=NotOlderThan` },
    { status: 200, body: { items: [{}, {}, {}] } },
  ),
  step(
    'ignores the limit when any state is accepted',
    { method: 'GET', path: `${ciliumNodes}?resourceVersion=0&limit=1` },
    { status: 200, body: { items: [{}, {}, {}], metadata: { continue: '' } } },
  ),
  step(
    'refuses a future version',
    { method: 'GET', path: `${ciliumNodes}?resourceVersion=99999999` },
    {
      status: 504,
      reason: 'Timeout',
      retryAfter: '1',
      message: like(/^Timeout: Too large resource version: 99999999, current: \d+$/),
      body: {
        details: {
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      },
    },
  ),
  step(
    'refuses a future version of one object',
    { method: 'GET', path: `${ciliumNodes}/a1?resourceVersion=99999999` },
    { status: 504, reason: 'Timeout' },
  ),
  step(
    'refuses an exact future version',
    { method: 'GET', path: `${ciliumNodes}?resourceVersion=99999999&resourceVersionMatch=Exact` },
    { status: 500, message: 'etcdserver: mvcc: required revision is a future revision' },
  ),
  step(
    'refuses an invalid version',
    { method: 'GET', path: `${ciliumNodes}?resourceVersion=x` },
    {
      status: 500,
      message: 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    },
  ),
  refuses('refuses an invalid limit', 'limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'),
  refuses(
    'refuses an invalid token',
    'continue=abc',
    "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
  ),
  refuses(
    'refuses a token with a version',
    'continue={token}&resourceVersion=5',
    'specifying resource version is not allowed when using continue',
  ),
  invalidOptions(
    'refuses a match without a version',
    'resourceVersionMatch=Exact',
    'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  ),
  invalidOptions(
    'refuses an exact match of any version',
    'resourceVersion=0&resourceVersionMatch=Exact',
    'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
  ),
  invalidOptions(
    'refuses an unknown match',
    'resourceVersion=0&resourceVersionMatch=Bogus',
    'resourceVersionMatch: Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""',
  ),
  invalidOptions(
    'refuses initial events of a list',
    'sendInitialEvents=true',
    'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
  ),
];

const expiring: readonly Step[] = [
  step('accepts another change', { method: 'DELETE', path: `${ciliumNodes}/l3` }, { status: 200 }),
  { kind: 'expireHistory', title: 'expires its history' },
  step(
    'refuses to continue after the history expired, and returns a new token',
    { method: 'GET', path: `${ciliumNodes}?limit=2&continue={token}` },
    {
      status: 410,
      reason: 'Expired',
      message: like(
        /^The provided continue parameter is too old to display a consistent list result\. .* now may show up in the list\.$/,
      ),
      body: { metadata: { continue: like(/^\S+$/) } },
      capture: { token: ['metadata', 'continue'] },
    },
  ),
  step(
    'continues in the current state with the new token',
    { method: 'GET', path: `${ciliumNodes}?limit=2&continue={token}` },
    { status: 200, body: { items: [] } },
  ),
  step(
    'no longer shows the expired state',
    { method: 'GET', path: `${ciliumNodes}?resourceVersion={listed}&resourceVersionMatch=Exact` },
    { status: 410, reason: 'Expired', message: 'The resourceVersion for the provided list is too old.' },
  ),
  step('deletes all of them', { method: 'DELETE', path: `${ciliumNodes}/l1` }, { status: 200 }),
];

export const listing: readonly Step[] = [...selecting, ...paging, ...expiring];
