// The answer of /status of an agent: where the addresses of its node come from, how many pods have some, and what it waits for.
import type { AgentSettings } from './agent-settings.ts';
import type { Ipam } from './ipam/ipam.ts';
import type { PoolFigures } from './ipam/pools.ts';

export interface AgentReport {
  readonly version?: string;
  readonly node: string;
  /** The mode that --ipam names. */
  readonly mode: string;
  /** Why pods get no addresses yet; absent if they do. */
  readonly waitingFor?: string | undefined;
  /** Why pods get no more addresses, as of a full disk; absent if they do. */
  readonly problem?: string | undefined;
  /** Interfaces of pods that have addresses. */
  readonly attachments: number;
  /** Addresses, by pool and family. */
  readonly pools: readonly PoolFigures[];
}

/** Everything but the version, once calls are answered. */
export function agentReport(
  { nodeName: node, mode }: Pick<AgentSettings, 'nodeName' | 'mode'>,
  ipam: Pick<Ipam, 'holdings' | 'figures'>,
  { waitingFor, problem }: Pick<AgentReport, 'waitingFor' | 'problem'>,
): AgentReport {
  return {
    node,
    mode,
    ...(waitingFor !== undefined && { waitingFor }),
    ...(problem !== undefined && { problem }),
    attachments: [...ipam.holdings.attachments()].length,
    pools: ipam.figures(),
  };
}

/** The answer while the agent starts. */
export function startingReport({
  nodeName: node,
  mode,
}: Pick<AgentSettings, 'nodeName' | 'mode'>): AgentReport {
  return { node, mode, waitingFor: 'the start of the agent', attachments: 0, pools: [] };
}
