// A failure of the cloud as the details of a line of log.
import type { CloudFailure } from '../providers/cloud-failure.ts';

export function told({ kind, action, code, message, requestId }: CloudFailure): Record<string, unknown> {
  return { failure: kind, action, code, message, ...(requestId !== undefined && { requestId }) };
}
