// Answers POST, PUT, PATCH and DELETE.
import { badRequest, invalidObject, type StatusError, unsupportedMediaType } from '../api-status.ts';
import type { KubernetesResponse } from '../exchange.ts';
import { invalid } from '../field-error.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import type { PatchKind } from '../patching/apply-patch.ts';
import { applyPatch, parsePatch } from '../patching/apply-patch.ts';
import type { UpdateRules } from '../resources/resource-type.ts';
import { DecodeError } from '../schema/decode-error.ts';
import { createObject } from '../writing/create-object.ts';
import { deleteObject } from '../writing/delete-object.ts';
import { updateObject, type Update } from '../writing/update-object.ts';
import { objectAnswer } from './answers.ts';
import { deletionOf } from './delete-options.ts';
import { checkJsonBody, mediaTypeOf, unknownFormat } from './media-types.ts';
import { checkSameVersion, objectInBody, strictly } from './read-body.ts';
import type { ResourceCall } from './resource-call.ts';
import { formOf } from './serve-reads.ts';
import { type WriteParameters, writerOf, writeParametersOf } from './write-parameters.ts';

export function serveCreate(call: ResourceCall): KubernetesResponse {
  const { request, query, type, target, server, warn } = call;
  const form = formOf(call, true);
  checkJsonBody(request.headers['content-type']);
  const { dryRun, fieldValidation } = writeParametersOf(query, 'CreateOptions');
  const object = objectInBody(type, request, { fieldValidation, warn });
  checkSameVersion(type, object);
  const created = createObject(server, { type, namespace: target.namespace }, object, {
    dryRun,
    warn,
    writer: writerOf(call),
  });
  return objectAnswer(201, created, form);
}

export function serveReplace(call: ResourceCall, rules: UpdateRules): KubernetesResponse {
  const { request, query, type, server, warn } = call;
  const form = formOf(call, true);
  checkJsonBody(request.headers['content-type']);
  const parameters = writeParametersOf(query, 'UpdateOptions');
  const { fieldValidation } = parameters;
  const object = objectInBody(type, request, { fieldValidation, warn });
  checkSameVersion(type, object);
  checkName(call, object);
  const update = { next: () => object, uid: object.metadata.uid, mayCreate: mayCreate(call) };
  const updated = updateObject(server, updateTarget(call, rules), update, {
    dryRun: parameters.dryRun,
    warn,
    writer: writerOf(call),
  });
  return objectAnswer(updated.created ? 201 : 200, updated.object, form);
}

export function servePatch(call: ResourceCall, rules: UpdateRules): KubernetesResponse {
  const { server, query, warn } = call;
  const kind = patchKindOf(call);
  const form = formOf(call, true);
  const parameters = writeParametersOf(query, 'PatchOptions');
  const patch = parsePatch(kind, call.request);
  const update: Update = {
    next: (current) => {
      if (current === undefined) throw new Error('a patch never makes an object');
      return patched(call, applyPatch(patch, current, call.type), parameters);
    },
    uid: undefined,
    mayCreate: false,
  };
  const updated = updateObject(server, updateTarget(call, rules), update, {
    dryRun: parameters.dryRun,
    warn,
    writer: writerOf(call),
  });
  return objectAnswer(200, updated.object, form);
}

export function serveDelete(call: ResourceCall): KubernetesResponse {
  const { type, target, server } = call;
  const form = formOf(call, true);
  const deletion = deletionOf(call);
  const place = { type, namespace: target.namespace, name: target.name };
  return objectAnswer(200, deleteObject(server, place, deletion), form);
}

function updateTarget(
  { type, target }: ResourceCall,
  rules: UpdateRules,
): Parameters<typeof updateObject>[1] {
  return { type, namespace: target.namespace, name: target.name, rules };
}

function mayCreate({ type, target }: ResourceCall): boolean {
  return type.createsOnUpdate && target.subresource === '';
}

/** A patched object that does not fit its type is reported as an invalid patch. */
function patched(call: ResourceCall, value: KubernetesObject, parameters: WriteParameters): KubernetesObject {
  const { fieldValidation } = parameters;
  try {
    const object = strictly(call.type, value, { fieldValidation, warn: call.warn });
    checkName(call, object);
    return object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const errors = [invalid('patch', JSON.stringify(value), error.message)];
    throw invalidObject({ group: '', name: '' }, '', errors);
  }
}

function checkName({ target }: ResourceCall, { metadata }: KubernetesObject): void {
  const { name } = metadata;
  if (name === undefined) {
    throw badRequest(
      `the name of the object (${target.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (name !== target.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`);
  }
}

const customPatches = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
];

function patchKindOf({ request, type }: ResourceCall): PatchKind {
  const mediaType = mediaTypeOf(request.headers['content-type']);
  if (mediaType === 'application/merge-patch+json') return 'merge';
  if (mediaType === 'application/json-patch+json') return 'json';
  if (mediaType === 'application/strategic-merge-patch+json' && !type.custom) return 'strategic';
  throw unknownPatch(type.custom);
}

/** The router of built-in resources refuses with its own text. */
function unknownPatch(custom: boolean): StatusError {
  if (custom) return unsupportedMediaType(unknownFormat(customPatches));
  return unsupportedMediaType('415: Unsupported Media Type', {});
}
