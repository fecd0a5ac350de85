// Log fields for a cloud failure, and the log line for what is blocked because of it.
import { isShared, type RefusedScope } from '../../node/allocate/refused-scope.ts';
import type { Logger } from '../../observability/logger.ts';
import type { CloudFailure } from '../../providers/contract/cloud-failure.ts';

export function failureFields(failure: CloudFailure): Record<string, unknown> {
  const { kind, action, code, message, requestId, permission } = failure;
  return {
    failure: kind,
    ...(permission !== undefined && { permission }),
    action,
    code,
    message,
    ...(requestId !== undefined && { requestId }),
  };
}

/** `failure`: undefined once it works again. `instanceId`: only that instance avoids it. */
export function logBlocked(
  log: Logger,
  {
    scope,
    failure,
    instanceId,
  }: { scope: RefusedScope; failure: CloudFailure | undefined; instanceId: string | undefined },
): void {
  // A failure of one instance is reported by its node, if it lacks addresses because of it.
  const level = instanceId === undefined && isShared(scope) ? 'info' : 'debug';
  const of = { scope, ...(instanceId !== undefined && { instanceId }) };
  if (failure === undefined) log[level]('accepted by the cloud again', of);
  else if (instanceId === undefined)
    log[level]('refused by the cloud: all nodes avoid it for now', { ...of, ...failureFields(failure) });
  else
    log[level]('refused by the cloud to one instance: its node avoids it for now', {
      ...of,
      ...failureFields(failure),
    });
}
