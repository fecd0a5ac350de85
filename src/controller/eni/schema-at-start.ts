// Reads the CiliumNode CRD before the process stands for election, because it decides which fields are written, and once
// more when it becomes the leader if the first read failed for the moment.
import { readServedSchema, type ServedSchema } from '../../kubernetes/cilium-node/served-schema.ts';
import type { KubernetesTransport } from '../../kubernetes/transport/transport.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { retry } from '../../runtime/retry.ts';

export interface SchemaReading {
  readonly kubernetes: KubernetesTransport;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Pauses before the retries, in ms. */
const pauses = [1000, 2000, 4000];
/** A new leader retries no later than this, in ms. With the last attempt, that is less than it has to catch up. */
const leaderRetriesFor = 20_000;

/**
 * Retries transient failures. If they persist, assumes the fields that every Cilium version has. Rejects with
 * the signal's reason.
 */
export async function schemaAtStart(reading: SchemaReading, signal: AbortSignal): Promise<ServedSchema> {
  const schema = await readRepeatedly(reading, Infinity, signal);
  if (schema.source.kind === 'assumed') {
    reading.log.warn('writing only fields of a CiliumNode that every version of Cilium has', {
      why: schema.source.reason,
    });
  }
  return schema;
}

/**
 * The schema that a new leader works with. What a failure at startup left out it would remove from every status, and
 * agents that need it could not set up a pod as long as it leads. Rejects with the signal's reason.
 */
export async function schemaOfLeader(
  reading: SchemaReading,
  atStart: ServedSchema,
  signal: AbortSignal,
): Promise<ServedSchema> {
  if (atStart.source.kind === 'served' || !atStart.source.mayPass) return atStart;
  const schema = await readRepeatedly(reading, leaderRetriesFor, signal);
  if (schema.source.kind === 'served')
    reading.log.info('writing all fields of a CiliumNode that its CRD has');
  return schema;
}

/** Repeats a read that failed for the moment, in the next `maxTime` ms. */
function readRepeatedly(
  { kubernetes, clock }: SchemaReading,
  maxTime: number,
  signal: AbortSignal,
): Promise<ServedSchema> {
  const end = clock.monotonic() + maxTime;
  const attempt = (): Promise<ServedSchema> => readServedSchema(kubernetes, signal);
  return retry({ clock, signal }, attempt, ({ source }, tries) =>
    source.kind === 'assumed' && source.mayPass && clock.monotonic() < end ? pauses[tries - 1] : undefined,
  );
}
