// Unknown paths and methods, and users without permission.
import { like, type Step, step } from '../step.ts';
import { ciliumNodes, nodes, pods } from './paths.ts';

const noMethod = 'the server does not allow this method on the requested resource';
const noPage = '404 page not found\n';

function forbidden(title: string, method: 'DELETE' | 'GET' | 'PATCH', path: string, message: string): Step {
  return step(title, { method, path, as: 'reader' }, { status: 403, reason: 'Forbidden', message });
}

export const refusing: readonly Step[] = [
  step(
    'does not know an unknown resource',
    { method: 'GET', path: '/apis/cilium.io/v2/bogus' },
    { status: 404, text: noPage },
  ),
  step(
    'does not know an unknown version',
    { method: 'GET', path: '/apis/cilium.io/v9/ciliumnodes' },
    { status: 404, text: noPage },
  ),
  step('does not know an unknown path', { method: 'GET', path: '/bogus' }, { status: 404, text: noPage }),
  step(
    'does not know an unknown core resource',
    { method: 'GET', path: '/api/v1/bogus' },
    { status: 404, reason: 'NotFound', message: 'the server could not find the requested resource' },
  ),
  step(
    'does not know an unknown part of a node',
    { method: 'GET', path: `${nodes}/n1/bogus` },
    { status: 404, message: 'the server could not find the requested resource' },
  ),
  step(
    'does not know an unknown part of a CiliumNode',
    { method: 'GET', path: `${ciliumNodes}/a1/bogus` },
    { status: 404, message: 'ciliumnodes.cilium.io "a1" not found' },
  ),
  step(
    'does not find a pod without a namespace',
    { method: 'GET', path: '/api/v1/pods/x' },
    { status: 404, message: 'the server could not find the requested resource' },
  ),
  step(
    'creates no status',
    { method: 'POST', path: `${ciliumNodes}/a1/status`, body: {} },
    {
      status: 405,
      reason: 'MethodNotAllowed',
      message: 'create is not supported on resources of kind "ciliumnodes.cilium.io"',
    },
  ),
  step(
    'deletes no status',
    { method: 'DELETE', path: `${ciliumNodes}/a1/status` },
    { status: 405, message: 'delete is not supported on resources of kind "ciliumnodes.cilium.io"' },
  ),
  step(
    'replaces no collection of CiliumNodes',
    { method: 'PUT', path: ciliumNodes, body: {} },
    { status: 400, message: 'name must be provided' },
  ),
  step(
    'replaces no collection of nodes',
    { method: 'PUT', path: nodes, body: {} },
    { status: 405, message: noMethod },
  ),
  step(
    'creates no node under a name',
    { method: 'POST', path: `${nodes}/n1`, body: {} },
    { status: 405, message: noMethod },
  ),
  step(
    'deletes no collection of namespaces',
    { method: 'DELETE', path: '/api/v1/namespaces' },
    { status: 405, message: noMethod },
  ),
  step('reads no binding', { method: 'GET', path: `${pods}/p1/binding` }, { status: 405, message: noMethod }),
  step(
    'refuses an unknown token',
    { method: 'GET', path: ciliumNodes, as: 'stranger' },
    { status: 401, reason: 'Unauthorized', message: 'Unauthorized' },
  ),
  forbidden(
    'lets a reader list nothing in the cluster',
    'GET',
    '/api/v1/pods',
    'pods is forbidden: User "reader" cannot list resource "pods" in API group "" at the cluster scope',
  ),
  forbidden(
    'lets a reader watch nothing',
    'GET',
    `${ciliumNodes}?watch=1&timeoutSeconds=1`,
    'ciliumnodes.cilium.io is forbidden: User "reader" cannot watch resource "ciliumnodes" in API group "cilium.io" at the cluster scope',
  ),
  forbidden(
    'lets a reader get nothing in a namespace',
    'GET',
    `${pods}/p1`,
    'pods "p1" is forbidden: User "reader" cannot get resource "pods" in API group "" in the namespace "default"',
  ),
  forbidden(
    'lets a reader patch no status',
    'PATCH',
    `${ciliumNodes}/a1/status`,
    'ciliumnodes.cilium.io "a1" is forbidden: User "reader" cannot patch resource "ciliumnodes/status" in API group "cilium.io" at the cluster scope',
  ),
  forbidden(
    'lets a reader delete no collection',
    'DELETE',
    ciliumNodes,
    'ciliumnodes.cilium.io is forbidden: User "reader" cannot deletecollection resource "ciliumnodes" in API group "cilium.io" at the cluster scope',
  ),
  step(
    'refuses a reader before it reads the object',
    { method: 'GET', path: `${ciliumNodes}/none`, as: 'reader' },
    { status: 403, message: like(/^ciliumnodes.cilium.io "none" is forbidden/) },
  ),
];
