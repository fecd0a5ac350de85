// Reads the definition of CiliumNodes before a process stands for election: it decides which fields are written.
import { readServedSchema, type ServedSchema } from '../kubernetes/served-schema.ts';
import type { KubernetesTransport } from '../kubernetes/transport.ts';
import type { Logger } from '../observability/logger.ts';
import { type Clock, sleep } from '../scheduling/clock.ts';

export interface SchemaReading {
  readonly kubernetes: KubernetesTransport;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Before the first of the tries that follow one that failed, and before the last, in ms; each is twice the one before. */
const pauses = { first: 1000, last: 4000 };

/** What passes is waited for; where it stays, fields that every version of Cilium has are assumed. Rejects with the signal's reason. */
export async function schemaAtStart(
  { kubernetes, clock, log }: SchemaReading,
  signal: AbortSignal,
): Promise<ServedSchema> {
  let schema = await readServedSchema(kubernetes, signal);
  for (let pause = pauses.first; isPassing(schema) && pause <= pauses.last; pause *= 2) {
    await sleep(clock, pause, signal);
    schema = await readServedSchema(kubernetes, signal);
  }
  if (schema.source.kind === 'assumed') {
    log.warn('writing only fields of a CiliumNode that every version of Cilium has', {
      why: schema.source.reason,
    });
  }
  return schema;
}

function isPassing({ source }: ServedSchema): boolean {
  return source.kind === 'assumed' && source.mayPass;
}
