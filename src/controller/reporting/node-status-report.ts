// The answer of /status?node=NAME: everything known about one node, healthy or not.
import type { NodeSummary } from '../../node/reconcile/node-summary.ts';
import { type NodeStanding, standingOf } from './fleet-metrics.ts';
import { type SelfFacts, type UnknownNode, unknownNode } from './process-status-report.ts';
import {
  type ExclusionReport,
  exclusionReports,
  type NodeReport,
  nodeReport,
  type WarningReport,
  warningReports,
} from './status-report.ts';

export type NodeStatusReport =
  | UnknownNode
  | (NodeReport & {
      readonly known: true;
      readonly standing: NodeStanding;
      readonly needed?: number;
      readonly releasing?: number;
      readonly interfaces: readonly InterfaceReport[];
      readonly warnings: readonly WarningReport[];
      readonly excluded: readonly ExclusionReport[];
    });

interface InterfaceReport {
  readonly id: string;
  readonly subnet: string;
  readonly deviceIndex?: number;
  readonly addresses: number;
  readonly prefixes: number;
  /** How many of the addresses others made, or use from outside the cluster. */
  readonly ofOthers?: number;
  readonly ipv6Prefixes?: number;
}

/** Maximum entries shown per list. */
const maxListed = 100;

export function nodeStatusReport(
  name: string,
  summaries: Iterable<NodeSummary>,
  facts: Pick<SelfFacts, 'state' | 'leader'> & { readonly now: number },
): NodeStatusReport {
  for (const entry of summaries) if (entry.name === name) return reportOf(entry, facts.now);
  return unknownNode(name, facts);
}

function reportOf(entry: NodeSummary, now: number): NodeStatusReport {
  const figures = entry.kind === 'reconciled' ? entry.figures : undefined;
  const assessment = figures?.assessment;
  return {
    known: true,
    standing: standingOf(entry),
    ...nodeReport(entry, now),
    ...(assessment?.kind === 'served' && { needed: assessment.needed }),
    ...(figures !== undefined && { releasing: figures.releasing }),
    interfaces: (figures?.view?.interfaces ?? []).slice(0, maxListed).map((item) => ({
      id: item.id,
      subnet: item.subnetId,
      ...(item.attachment !== undefined && { deviceIndex: item.attachment.deviceIndex }),
      addresses: item.addresses.length,
      prefixes: item.prefixes.length,
      ...(item.ofOthers !== undefined && { ofOthers: item.ofOthers.length }),
      ...(item.ipv6Prefixes !== undefined && { ipv6Prefixes: item.ipv6Prefixes.length }),
    })),
    warnings: warningReports(entry).slice(0, maxListed),
    excluded: exclusionReports(entry).slice(0, maxListed),
  };
}
