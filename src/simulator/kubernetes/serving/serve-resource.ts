// Dispatches a resource request by method, and by whether the path names an object or a subresource.
import type { KubernetesResponse } from '../exchange.ts';
import { badRequest, methodNotAllowed, noSuchResource, notFound, verbNotSupported } from '../api-status.ts';
import { namespaces } from '../resources/namespaces.ts';
import { resourceName, type UpdateRules } from '../resources/resource-type.ts';
import { nothingThere } from './answers.ts';
import { verbOf } from './request-target.ts';
import type { ResourceCall } from './resource-call.ts';
import { serveBinding } from './serve-binding.ts';
import { serveDeleteCollection } from './serve-delete-collection.ts';
import { serveGet, serveListOrWatch } from './serve-reads.ts';
import { serveCreate, serveDelete, servePatch, serveReplace } from './serve-writes.ts';

/** Throws `StatusError`. */
export function serveResource(call: ResourceCall): KubernetesResponse {
  const { target, type } = call;
  if (!isInScope(call)) {
    if (type.custom) return nothingThere();
    throw target.name === '' ? methodNotAllowed() : noSuchResource();
  }
  if (target.deeper) throw unknownPart(call);
  if (target.subresource !== '') return servePart(call);
  const { method } = call.request;
  return target.name === '' ? serveCollection(call, method) : serveObject(call, method);
}

/** Only a list may span all namespaces. A cluster-scoped resource is never inside a namespace. */
function isInScope({ type, target, request }: ResourceCall): boolean {
  const named = target.namespace !== '' && type.collection !== namespaces.collection;
  if (!type.namespaced) return !named;
  return named || (target.name === '' && request.method === 'GET');
}

function serveCollection(call: ResourceCall, method: string): KubernetesResponse {
  switch (method) {
    case 'GET':
      return serveListOrWatch(call);
    case 'POST':
      return serveCreate(call);
    case 'DELETE':
      if (call.type.collection === 'namespaces') throw notAllowed(call);
      return serveDeleteCollection(call);
    case 'PUT':
    case 'PATCH':
      throw call.type.custom ? badRequest('name must be provided') : methodNotAllowed();
    default:
      throw notAllowed(call);
  }
}

function serveObject(call: ResourceCall, method: string): KubernetesResponse {
  const rules = call.type.update;
  switch (method) {
    case 'GET':
      return serveGet(call);
    case 'PUT':
      return serveReplace(call, rules);
    case 'PATCH':
      return servePatch(call, rules);
    case 'DELETE':
      return serveDelete(call);
    case 'POST':
      if (call.type.custom) return serveCreate(call);
      throw methodNotAllowed();
    default:
      throw notAllowed(call);
  }
}

function servePart(call: ResourceCall): KubernetesResponse {
  const rules = partRules(call);
  if (call.target.subresource === 'binding') {
    if (call.request.method !== 'POST') throw notAllowed(call);
    return serveBinding(call, rules);
  }
  switch (call.request.method) {
    case 'GET':
      return serveGet(call);
    case 'PUT':
      return serveReplace(call, rules);
    case 'PATCH':
      return servePatch(call, rules);
    default:
      throw notAllowed(call);
  }
}

function partRules(call: ResourceCall): UpdateRules {
  const { subresources } = call.type;
  const rules = Object.hasOwn(subresources, call.target.subresource)
    ? subresources[call.target.subresource]
    : undefined;
  if (rules === undefined) throw unknownPart(call);
  return rules;
}

function unknownPart({ type, target }: ResourceCall): Error {
  return type.custom ? notFound(resourceName(type), target.name) : noSuchResource();
}

function notAllowed({ type, target, request }: ResourceCall): Error {
  if (!type.custom) return methodNotAllowed();
  return verbNotSupported(resourceName(type), verbOf(request.method, target.name, false));
}
