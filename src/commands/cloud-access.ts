// Connects to the cloud for commands that only ask: nothing that they send changes anything there.
import { thisProcess } from '../config/process-environment.ts';
import {
  type Cloud,
  type CloudConnection,
  type CloudDeps,
  NotStartable,
} from '../controller/clouds/cloud.ts';
import { connectToCloud } from '../controller/clouds/registry.ts';
import { remedyFor } from '../node/conditions/call-condition.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetricRegistry, type Metrics } from '../observability/metrics.ts';
import { CloudError } from '../providers/contract/cloud-failure.ts';
import { MutationPermission, noPauses } from '../providers/gate/mutation-permission.ts';
import { systemClock as clock } from '../runtime/system-clock.ts';
import { prepareOutbound } from './outbound-requests.ts';

export type AskableCloud = Pick<CloudConnection, 'options' | 'outbound'> & {
  /** Receives what connecting has to say. */
  readonly warn: (message: string) => void;
};

export interface OpenedCloud {
  readonly cloud: Cloud;
  /** Calls that the cloud has answered so far, by their names. */
  readonly answered: ReadonlySet<string>;
  close(): void;
}

/** Connects to the cloud of the options. Throws NotStartable. */
export async function openCloud(connection: AskableCloud, signal: AbortSignal): Promise<OpenedCloud> {
  const { options, outbound, warn } = connection;
  const log: Logger = quietLogger(warn);
  prepareOutbound(outbound, log);
  const connected = await connectToCloud({ options, outbound, log, clock, ...thisProcess }, signal);
  const asking = askingCloud(connected.compose, { options, clock, log });
  return { ...asking, close: () => connected.close() };
}

/** The cloud as commands see it that change nothing, and the calls that it has answered. */
export function askingCloud(
  compose: (deps: CloudDeps) => Cloud,
  context: Pick<CloudDeps, 'options' | 'clock' | 'log'>,
): Omit<OpenedCloud, 'close'> {
  const { metrics } = createMetricRegistry({ measureProcess: false });
  const answered = new Set<string>();
  const headwater_cloud_calls_total: Metrics['headwater_cloud_calls_total'] = {
    add: ({ action, outcome }) => void (outcome === 'ok' && answered.add(action)),
  };
  const cloud = compose({
    ...context,
    metrics: { ...metrics, headwater_cloud_calls_total },
    leads: () => false,
    isInSafeLeaseWindow: () => false,
    permission: new MutationPermission({ ...noPauses, dryRun: true }),
  });
  return { cloud, answered };
}

/** Connects for one question. Throws NotStartable. */
export async function askCloud<T>(
  connection: AskableCloud,
  question: (cloud: Cloud, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal } = new AbortController();
  const opened = await openCloud(connection, signal);
  try {
    return await question(opened.cloud, signal);
  } finally {
    opened.close();
  }
}

/** Why the cloud gives no answer, and what to do about it. Throws what is a bug. */
export function problemWithCloud(error: unknown): string {
  if (error instanceof NotStartable) return error.message;
  if (!(error instanceof CloudError)) throw error;
  const remedy = remedyFor(error.failure);
  return remedy === undefined ? error.message : `${error.message}: ${remedy}`;
}

/** People read only warnings, and only their words. */
function quietLogger(warn: (message: string) => void): Logger {
  const silent = (): void => undefined;
  return { debug: silent, info: silent, warn, error: warn, child: () => quietLogger(warn) };
}
