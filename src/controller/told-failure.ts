// A failure of the cloud as the details of a line of log.
import type { CloudFailure } from '../providers/cloud-failure.ts';

export function told(failure: CloudFailure): Record<string, unknown> {
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
