import { expect, test } from '@jest/globals';
import { resourceTargetOf, verbOf } from '../../../../../src/simulator/kubernetes/serving/request-target.ts';

const nothing = { group: '', namespace: '', name: '', subresource: '', deeper: false };

test.each([
  ['/api/v1/nodes', { version: 'v1', resource: 'nodes' }],
  ['/api/v1/nodes/n1', { version: 'v1', resource: 'nodes', name: 'n1' }],
  ['/api/v1/nodes/n1/status', { version: 'v1', resource: 'nodes', name: 'n1', subresource: 'status' }],
  ['/api/v1/namespaces/a', { version: 'v1', resource: 'namespaces', namespace: 'a', name: 'a' }],
  [
    '/api/v1/namespaces/a/finalize',
    { version: 'v1', resource: 'namespaces', namespace: 'a', name: 'a', subresource: 'finalize' },
  ],
  ['/api/v1/namespaces/a/pods', { version: 'v1', resource: 'pods', namespace: 'a' }],
  ['/api/v1/namespaces/a/pods/p', { version: 'v1', resource: 'pods', namespace: 'a', name: 'p' }],
  [
    '/api/v1/namespaces/a/pods/p/proxy/x',
    { version: 'v1', resource: 'pods', namespace: 'a', name: 'p', subresource: 'proxy', deeper: true },
  ],
  ['/apis/cilium.io/v2/ciliumnodes', { group: 'cilium.io', version: 'v2', resource: 'ciliumnodes' }],
  [
    '/apis/cilium.io/v2/ciliumnodes/a%2Fb',
    { group: 'cilium.io', version: 'v2', resource: 'ciliumnodes', name: 'a/b' },
  ],
])('the path %s names its resource', (path, target) => {
  expect(resourceTargetOf(path)).toEqual({ ...nothing, ...target });
});

test.each([
  '/',
  '/api',
  '/api/v1',
  '/apis',
  '/apis/cilium.io',
  '/apis/cilium.io/v2',
  '/healthz',
  '/version/x/y',
])('the path %s names no resource', (path) => {
  expect(resourceTargetOf(path)).toBeUndefined();
});

test.each([
  ['GET', '', false, 'list'],
  ['GET', '', true, 'watch'],
  ['GET', 'n', true, 'get'],
  ['HEAD', 'n', false, 'get'],
  ['POST', '', false, 'create'],
  ['PUT', 'n', false, 'update'],
  ['PATCH', 'n', false, 'patch'],
  ['DELETE', 'n', false, 'delete'],
  ['DELETE', '', false, 'deletecollection'],
  ['OPTIONS', '', false, ''],
])('the method %s on the name %j, watching %s, is the verb %j', (method, name, watch, verb) => {
  expect(verbOf(method, name, watch)).toBe(verb);
});
