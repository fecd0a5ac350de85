// The events of a workload, for people who watch a demonstration and to prove that one seed gives one
// history. Recording costs nothing without a listener.
import type { Clock } from '../../runtime/clock.ts';

export type WorkloadEventKind =
  | 'node-added'
  | 'node-removed'
  | 'agent-started'
  | 'agent-serving'
  | 'agent-stopped'
  | 'address-taken'
  | 'address-refused'
  | 'address-given-back'
  | 'address-missing'
  | 'address-returned'
  | 'handshake-answered'
  | 'cidr-dropped'
  | 'cidr-reclaimed'
  | 'written'
  | 'write-refused'
  | 'watch-broken'
  | 'node-unreadable'
  | 'pod-created'
  | 'pod-running'
  | 'pod-gone'
  | 'violation';

export interface WorkloadEvent {
  /** Monotonic ms of the shared clock. */
  readonly at: number;
  readonly node: string;
  readonly kind: WorkloadEventKind;
  /** The subject of the entry: an address, a CIDR, a pod, a path. */
  readonly subject: string;
  readonly detail: string;
}

/** Records one event of one node. */
export type Recorder = (kind: WorkloadEventKind, subject: string, detail?: string) => void;

/** A recorder for `node` that stamps events with `clock` and passes them to `listener`. */
export function recorderFor(
  node: string,
  clock: Clock,
  listener: ((event: WorkloadEvent) => void) | undefined,
): Recorder {
  if (listener === undefined) return () => undefined;
  return (kind, subject, detail = '') => listener({ at: clock.monotonic(), node, kind, subject, detail });
}
