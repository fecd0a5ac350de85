// When a write may start: it must end within our own lease.
import { writeTimeoutOf } from '../../config/release-window.ts';
import type { ModeDeps } from '../../controller/host.ts';

/** Whether this process leads at this moment, and a write that starts now ends within its lease. */
export function mayWrite({ host, leadership: { lease, leads } }: ModeDeps): boolean {
  const { options, clock } = host;
  if (lease === undefined) return leads();
  const end = lease.leaseEnd();
  const ms = writeTimeoutOf(options);
  return end !== undefined && clock.monotonic() + ms < end.monotonic && clock.wall() + ms < end.wall;
}
