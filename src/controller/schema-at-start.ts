// Reads the CiliumNode CRD before the process stands for election, because it decides which fields are written.
import { readServedSchema, type ServedSchema } from '../kubernetes/cilium-node/served-schema.ts';
import type { KubernetesTransport } from '../kubernetes/transport/transport.ts';
import type { Logger } from '../observability/logger.ts';
import { type Clock, sleep } from '../runtime/clock.ts';

export interface SchemaReading {
  readonly kubernetes: KubernetesTransport;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Pause before the first and the last retry, in ms; each pause doubles the previous one. */
const pauses = { first: 1000, last: 4000 };

/**
 * Retries transient failures. If they persist, assumes the fields that every Cilium version has. Rejects with
 * the signal's reason.
 */
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
