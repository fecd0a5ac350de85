// Reads the CiliumNode CRD before the process stands for election, because it decides which fields are written.
import { readServedSchema, type ServedSchema } from '../kubernetes/cilium-node/served-schema.ts';
import type { KubernetesTransport } from '../kubernetes/transport/transport.ts';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import { retry } from '../runtime/retry.ts';

export interface SchemaReading {
  readonly kubernetes: KubernetesTransport;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Pauses before the retries, in ms. */
const pauses = [1000, 2000, 4000];

/**
 * Retries transient failures. If they persist, assumes the fields that every Cilium version has. Rejects with
 * the signal's reason.
 */
export async function schemaAtStart(
  { kubernetes, clock, log }: SchemaReading,
  signal: AbortSignal,
): Promise<ServedSchema> {
  const attempt = (): Promise<ServedSchema> => readServedSchema(kubernetes, signal);
  const schema = await retry({ clock, signal }, attempt, ({ source }, tries) =>
    source.kind === 'assumed' && source.mayPass ? pauses[tries - 1] : undefined,
  );
  if (schema.source.kind === 'assumed') {
    log.warn('writing only fields of a CiliumNode that every version of Cilium has', {
      why: schema.source.reason,
    });
  }
  return schema;
}
