// Answers DELETE on a collection: deletes every selected object individually.
import type { KubernetesResponse } from '../exchange.ts';
import { listOptionsOf } from '../reading/list-options.ts';
import { listObjects } from '../reading/read-objects.ts';
import { selectionOf } from '../selecting/selection.ts';
import { deleteObject } from '../writing/delete-object.ts';
import { listAnswer } from './answers.ts';
import { deletionOf } from './delete-options.ts';
import type { ResourceCall } from './resource-call.ts';
import { formOf } from './serve-reads.ts';

/** Returns the objects as they were; throws `StatusError`. */
export function serveDeleteCollection(call: ResourceCall): KubernetesResponse {
  const { type, target, server, query } = call;
  const form = formOf(call, true);
  const deletion = deletionOf(call);
  const options = listOptionsOf(query);
  const { labelSelector, fieldSelector } = options;
  const selection = selectionOf(type, { namespace: target.namespace, labelSelector, fieldSelector });
  const page = listObjects(server.store, type, selection, options);
  for (const { metadata } of page.items) {
    deleteObject(server, { type, namespace: metadata.namespace ?? '', name: metadata.name ?? '' }, deletion);
  }
  return listAnswer(page, form);
}
