// Answers GET: one object, a list, or a watch.
import type { KubernetesResponse } from '../exchange.ts';
import { includedObjectOf, partialMetadata, tableOf } from '../printing/table.ts';
import { type ListOptions, listOptionsOf } from '../reading/list-options.ts';
import { listObjects, readObject } from '../reading/read-objects.ts';
import type { ObjectEvent } from '../reading/watch-events.ts';
import { watchObjects } from '../reading/watch-objects.ts';
import { selectionOf } from '../selecting/selection.ts';
import { type Form, listAnswer, objectAnswer } from './answers.ts';
import { representationFor } from './media-types.ts';
import type { ResourceCall } from './resource-call.ts';

export function serveGet(call: ResourceCall): KubernetesResponse {
  const { target, type, server, query } = call;
  const form = formOf(call, true);
  const place = { type, namespace: target.namespace, name: target.name };
  return objectAnswer(200, readObject(server.store, place, query.get('resourceVersion') ?? ''), form);
}

export function serveListOrWatch(call: ResourceCall): KubernetesResponse {
  const { target, type, server, query } = call;
  const options = listOptionsOf(query);
  const beginsWithList = options.watch && options.bookmarks && options.sendInitialEvents === true;
  const form = formOf(call, !beginsWithList);
  const { labelSelector, fieldSelector } = options;
  const selection = selectionOf(type, { namespace: target.namespace, labelSelector, fieldSelector });
  if (options.watch) return serveWatch(call, { options, selection, form });
  const page = listObjects(server.store, type, selection, options);
  return listAnswer(call.isEmptied ? { ...page, ...emptied } : page, form);
}

const emptied = { items: [], continueToken: '', remaining: undefined };

interface WatchPlan {
  readonly options: ListOptions;
  readonly selection: ReturnType<typeof selectionOf>;
  readonly form: Form;
}

function serveWatch(call: ResourceCall, { options, selection, form }: WatchPlan): KubernetesResponse {
  const { server, type, request, signal } = call;
  const { store, clock, watchRandom: random, openWatches, watchBacklog } = server;
  const encode =
    form.representation === 'object'
      ? server.plainEvents.encode
      : transformedEvents(form, () => clock.wall());
  const body = watchObjects(
    { store, clock, random, openWatches, watchBacklog },
    { type, selection, options, url: request.url, encode },
    signal,
  );
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

/** A table watch sends its headers once, so its lines cannot be shared. */
function transformedEvents(form: Form, now: () => number): (event: ObjectEvent) => string {
  const { type, representation, included } = form;
  let headers = true;
  return (event) => {
    const { resourceVersion = '' } = event.object.metadata;
    const options = { columns: type.columns, included, now: now(), headers };
    headers = false;
    const object =
      representation === 'Table'
        ? tableOf([event.object], { resourceVersion }, options)
        : partialMetadata(event.object);
    return `${JSON.stringify({ type: event.type, object })}\n`;
  };
}

export function formOf({ request, query, type, server }: ResourceCall, tables: boolean): Form {
  const representation = representationFor(request.headers['accept'], { custom: type.custom, tables });
  const included = representation === 'Table' ? includedObjectOf(query) : 'Metadata';
  return { type, representation, included, now: server.clock.wall() };
}
