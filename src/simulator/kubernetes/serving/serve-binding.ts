// Answers POST on a pod's `binding`: the scheduler assigns it to a node.
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/binding-v1/
import { badRequest, conflict, unclassifiedError } from '../api-status.ts';
import type { KubernetesResponse } from '../exchange.ts';
import { joinedFieldErrors, notSupported, required } from '../field-error.ts';
import { quoted } from '../go-text.ts';
import { textAt } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { itemsOf, partOf } from '../objects/object-parts.ts';
import { readJson } from '../read-json.ts';
import type { UpdateRules } from '../resources/resource-type.ts';
import { timeText } from '../schema/go-time.ts';
import { updateObject } from '../writing/update-object.ts';
import { jsonAnswer } from './answers.ts';
import type { ResourceCall } from './resource-call.ts';
import { writerOf, writeParametersOf } from './write-parameters.ts';

/** Throws `StatusError`. */
export function serveBinding(call: ResourceCall, rules: UpdateRules): KubernetesResponse {
  const { request, query, type, target, server, warn } = call;
  const { dryRun } = writeParametersOf(query, 'CreateOptions');
  const node = targetNode(request.body ?? '');
  const { namespace, name } = target;
  const next = (current: KubernetesObject | undefined): KubernetesObject =>
    bound(current, node, timeText(server.clock.wall()));
  const update = { next, uid: undefined, mayCreate: false };
  updateObject(server, { type, namespace, name, rules }, update, { dryRun, warn, writer: writerOf(call) });
  return jsonAnswer(201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

function targetNode(body: string): string {
  const read = readJson(body);
  if ('problem' in read) throw badRequest(`couldn't get version/kind; json parse error: ${read.problem}`);
  const binding = read.value;
  const kind = textAt(binding, 'target', 'kind');
  const name = textAt(binding, 'target', 'name');
  const errors = [
    ...(kind === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(name === '' ? [required('target.name')] : []),
  ];
  if (errors.length > 0) throw unclassifiedError(joinedFieldErrors(errors));
  return name;
}

function bound(pod: KubernetesObject | undefined, node: string, now: string): KubernetesObject {
  if (pod === undefined) throw new Error('a binding never makes a pod');
  const name = pod.metadata.name ?? '';
  const already = textAt(pod, 'spec', 'nodeName');
  const resource = { group: '', name: 'pods/binding' };
  if (already !== '')
    throw conflict(resource, name, `pod ${name} is already assigned to node ${quoted(already)}`);
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  const others = itemsOf(pod, 'status', 'conditions').filter(
    (entry) => textAt(entry, 'type') !== 'PodScheduled',
  );
  return {
    ...pod,
    spec: { ...partOf(pod, 'spec'), nodeName: node },
    status: { ...partOf(pod, 'status'), conditions: [...others, scheduled] },
  };
}
