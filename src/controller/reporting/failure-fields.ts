// Log fields for a cloud failure, and the log line for what is blocked because of it.
import type { Thing, ThingKind } from '../../node/allocate/refused-thing.ts';
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
const ofOneInstance: ReadonlySet<ThingKind> = new Set(['interface', 'newInterfaces', 'prefixes']);

/** `failure`: undefined once it works again. */
export function logBlocked(log: Logger, thing: Thing, failure: CloudFailure | undefined): void {
  const level = ofOneInstance.has(thing.kind) ? 'debug' : 'info';
  if (failure === undefined) log[level]('accepted by the cloud again', { thing });
  else log[level]('refused by the cloud: all nodes avoid it for now', { thing, ...failureFields(failure) });
}
