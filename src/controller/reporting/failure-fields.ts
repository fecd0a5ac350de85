// Log fields for a cloud failure, and the log line for what is blocked because of it.
import type { RefusedScope, RefusedScopeKind } from '../../node/allocate/refused-scope.ts';
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

/** These concern one instance. Its node reports them if it lacks addresses because of them. */
const ofOneInstance: ReadonlySet<RefusedScopeKind> = new Set(['interface', 'newInterfaces', 'prefixes']);

/** `failure`: undefined once it works again. */
export function logBlocked(log: Logger, scope: RefusedScope, failure: CloudFailure | undefined): void {
  const level = ofOneInstance.has(scope.kind) ? 'debug' : 'info';
  if (failure === undefined) log[level]('accepted by the cloud again', { scope });
  else
    log[level]('refused by the cloud: all nodes avoid it for now', {
      scope,
      ...failureFields(failure),
    });
}
