// Connects to the cloud for commands that only ask: nothing that they send changes anything there.
import { thisProcess } from '../config/process-environment.ts';
import { type Cloud, type CloudConnection, NotStartable } from '../controller/clouds/cloud.ts';
import { connectToCloud } from '../controller/clouds/registry.ts';
import { remedyFor } from '../node/conditions/call-condition.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetricRegistry } from '../observability/metrics.ts';
import { CloudError } from '../providers/contract/cloud-failure.ts';
import { MutationPermission, noPauses } from '../providers/gate/mutation-permission.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { prepareOutbound } from './outbound-requests.ts';
import { quietLogger } from './quiet-logger.ts';

/** The result, or why the cloud did not give one, and what to do about it. */
export type Asked<T> =
  | { readonly kind: 'answered'; readonly answer: T }
  | { readonly kind: 'failed'; readonly problem: string };

/** Asks the cloud of the options. `warn` receives what connecting has to say. */
export async function askCloud<T>(
  connection: Pick<CloudConnection, 'options' | 'outbound'> & { readonly warn: (message: string) => void },
  ask: (cloud: Cloud, signal: AbortSignal) => Promise<T>,
): Promise<Asked<T>> {
  const { options, outbound, warn } = connection;
  const log: Logger = quietLogger(warn);
  const { signal } = new AbortController();
  prepareOutbound(outbound, log);
  try {
    const connected = await connectToCloud({ options, outbound, log, clock, ...thisProcess }, signal);
    try {
      const { metrics } = createMetricRegistry({ measureProcess: false });
      const cloud = connected.compose({
        options,
        clock,
        log,
        metrics,
        leads: () => false,
        isInSafeLeaseWindow: () => false,
        permission: new MutationPermission({ ...noPauses, dryRun: true }),
      });
      return { kind: 'answered', answer: await ask(cloud, signal) };
    } finally {
      connected.close();
    }
  } catch (error) {
    return { kind: 'failed', problem: problemIn(error) };
  }
}

/** Throws what is a bug. */
function problemIn(error: unknown): string {
  if (error instanceof NotStartable) return error.message;
  if (!(error instanceof CloudError)) throw error;
  const remedy = remedyFor(error.failure);
  return remedy === undefined ? error.message : `${error.message}: ${remedy}`;
}
