// The answers of a long-running operation, and what its polls show.
import type { JsonObject } from '../workload/json.ts';
import { answer, type ArmAnswer, type ArmCall, type ArmContext, type ArmOperation } from './arm-call.ts';
import type { ArmCloud } from './arm-cloud.ts';
import { ArmRefusal } from './arm-refusal.ts';
import type { Operation } from './operations.ts';
import { renderInterface, renderMachine } from './rendering.ts';

/** The answer to a request that began an operation. */
export function accepted(cloud: ArmCloud, call: ArmCall, operation: Operation, first: ArmAnswer): ArmAnswer {
  return { ...first, headers: { ...first.headers, ...pollHeaders(cloud, call, operation) } };
}

function pollHeaders(cloud: ArmCloud, call: ArmCall, operation: Operation): Record<string, string> {
  const { headers, retryAfter } = cloud.operationAnswers;
  const at = (kind: string): string =>
    `${call.origin}/subscriptions/${operation.subscription}/providers/${operation.provider}/locations/${cloud.location}/${kind}/${operation.id}?api-version=${call.apiVersion}`;
  return {
    ...(headers !== 'location' && { 'azure-asyncoperation': at('operations') }),
    ...(headers !== 'asyncOperation' && { location: at('operationResults') }),
    ...(retryAfter > 0 && { 'retry-after': String(retryAfter) }),
  };
}

/** The status of an operation. */
function shownStatus(call: ArmCall, { cloud }: ArmContext): ArmAnswer {
  const operation = asked(cloud, call);
  const { id, status, startedAt, endedAt, error } = operation;
  const { retryAfter } = cloud.operationAnswers;
  return {
    status: 200,
    headers: status === 'InProgress' && retryAfter > 0 ? { 'retry-after': String(retryAfter) } : {},
    body: {
      name: id,
      status,
      startTime: new Date(startedAt).toISOString(),
      ...(endedAt !== undefined && { endTime: new Date(endedAt).toISOString() }),
      ...(error !== undefined && { error }),
    },
  };
}

/** The result of an operation: 202 while it runs, then the resource, or nothing for one that is gone. */
function shownResult(call: ArmCall, { cloud }: ArmContext): ArmAnswer {
  const operation = asked(cloud, call);
  const { status, resourceId, error } = operation;
  if (status === 'InProgress') return { status: 202, headers: pollHeaders(cloud, call, operation) };
  if (error !== undefined) throw new ArmRefusal(error.code, error.message, 409);
  const body = resourceOf(cloud, resourceId);
  return body === undefined ? { status: 204, headers: {} } : answer(body);
}

function asked(cloud: ArmCloud, { parameters }: ArmCall): Operation {
  const { operation = '', subscription = '' } = parameters;
  return cloud.operations.find(operation, subscription);
}

function resourceOf(cloud: ArmCloud, id: string): JsonObject | undefined {
  const machine = cloud.machines.current.get(id);
  if (machine !== undefined) return renderMachine(cloud, machine, false);
  const record = cloud.interfaces.current.get(id);
  return record && renderInterface(cloud, record);
}

export const operationOperations: readonly ArmOperation[] = (
  ['Microsoft.Compute', 'Microsoft.Network'] as const
).flatMap((provider) => {
  const base = `/subscriptions/{subscription}/providers/${provider}/locations/{location}`;
  const action = `${provider}/locations/operations/read`;
  const shared = { method: 'GET', provider, action, limits: 'OperationGet' } as const;
  return [
    { ...shared, name: 'Operations.Get', route: `${base}/operations/{operation}`, run: shownStatus },
    {
      ...shared,
      name: 'Operations.GetResult',
      route: `${base}/operationResults/{operation}`,
      run: shownResult,
    },
  ];
});
