// The needs of a cloud that is composed, and the parts that the controller gets from it.
import type { Options } from '../../config/option-table.ts';
import type { Outbound } from '../../config/outbound.ts';
import type { HttpSenderOptions } from '../../network/http-sender.ts';
import { proxyFor, proxyInWords } from '../../network/proxies.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { CloudAliases } from '../../blocks/node-ipam/cloud/cloud-aliases.ts';
import type { AliasWords } from '../../blocks/node-ipam/cloud/alias-condition.ts';
import type { AllocationImplementation } from '../../providers/contract/cloud.ts';
import type { Tags } from '../../providers/contract/network-interface.ts';
import type { MutationPermission } from '../../providers/gate/mutation-permission.ts';
import type { BucketLevel } from '../../providers/rate-limit/rate-limiter.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ChangeAudit } from '../reporting/change-audit.ts';
import type { MissingPermission } from '../reporting/missing-permissions.ts';

/** The needs of a connection to a cloud. */
export interface CloudConnection {
  readonly options: Options;
  readonly outbound: Outbound;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Timeout for opening a connection to a cloud, in ms. */
const connectionTimeout = 5000;

/** How requests leave for a cloud. `cloud`: its name, for people. */
export function wayOut({ options, outbound, log, clock }: CloudConnection, cloud: string): HttpSenderOptions {
  return {
    connections: options.parallelAllocWorkers,
    connectionTimeout,
    clock,
    proxyFor: (target) => proxyFor(target, outbound.proxies),
    onRoute: (host, proxy) =>
      log.info(`connecting to ${cloud}`, {
        host,
        proxy: proxy === undefined ? 'none' : proxyInWords(proxy),
      }),
  };
}

export interface CloudDeps {
  readonly options: Options;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Whether this process leads at this moment. */
  readonly leads: () => boolean;
  /** Whether a call that takes something away and may last `ms` can still end within our own lease. */
  readonly isInSafeLeaseWindow: (ms: number) => boolean;
  readonly permission: MutationPermission;
  /** Gets a line for each change; undefined: nobody asks for them. */
  readonly audit?: ChangeAudit | undefined;
}

export interface CloudReports {
  /** Sets the gauges for calls in flight and for rate limits. */
  readonly showCalls: () => void;
  /** Current state of the rate limits. */
  readonly buckets: () => readonly BucketLevel[];
  /** Permissions that the cloud denies. */
  readonly denied: () => readonly MissingPermission[];
  /** Which endpoint and identity are used, as text for people. Never rejects and takes at most 2 s. */
  readonly describe: () => Promise<{ readonly scope: string }>;
}

/** A composed cloud, as the controller uses it. */
export interface Cloud extends CloudReports {
  /** Reads a Node's provider ID; undefined if it names no instance of this cloud. */
  readonly instanceIdOf: (providerId: string) => string | undefined;
  readonly implementation: AllocationImplementation;
  /** Tags for created interfaces. */
  readonly interfaceTags: Tags;
  /** The subset of tags that identifies interfaces of this cluster. */
  readonly belongingTags: Tags;
  /** Set if the cluster's name in the tags was read. `doubt`: why it may be wrong; undefined while it is confirmed. */
  readonly naming?: { readonly doubt: string | undefined };
}

/** A cloud of which only what it routes to instances is used. */
export interface AliasCloud extends CloudReports {
  readonly aliases: CloudAliases;
  readonly words: AliasWords;
}

/** A problem outside Headwater that prevents the start. It is not a bug. */
export class NotStartable extends Error {
  override readonly name = 'NotStartable';
  /** `usage`: the configuration cannot work, so a restart does not help. */
  readonly kind: 'usage' | 'failure';

  constructor(
    message: string,
    { kind = 'failure', ...options }: ErrorOptions & { kind?: 'usage' | 'failure' } = {},
  ) {
    super(message, options);
    this.kind = kind;
  }
}
