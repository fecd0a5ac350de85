// Summaries of nodes for tests of reports: served nodes, with the changes that a test gives.
import type { Assessment } from '../../../src/node/conditions/assessment.ts';
import type { NodeFigures, NodeSummary } from '../../../src/node/reconcile/node-summary.ts';
import type { NetworkInterface } from '../../../src/providers/contract/network-interface.ts';
import { m5Large, requirements, view } from '../node/allocation-facts.ts';

export type Served = Extract<Assessment, { kind: 'served' }>;

export interface NodeEntryChange {
  readonly assessment?: Partial<Omit<Served, 'kind'>>;
  readonly figures?: Partial<Omit<NodeFigures, 'assessment'>>;
  readonly interfaces?: readonly NetworkInterface[];
}

export function servedEntry(name: string, change: NodeEntryChange = {}): NodeSummary {
  const { assessment = {}, figures = {}, interfaces = [] } = change;
  return {
    kind: 'reconciled',
    name,
    figures: {
      protocol: 'crd',
      assessment: {
        kind: 'served',
        requirements: requirements(),
        limits: m5Large,
        usage: { available: 0, used: 0, pendingPods: 0 },
        marks: { preAllocate: 8, minAllocate: 0, maxAllocate: 27, maxAboveWatermark: 0 },
        retired: [],
        retiredInUse: 0,
        needed: 0,
        wanted: 0,
        toAllocate: 0,
        ipv6: 'notAsked',
        excess: 0,
        cap: undefined,
        ...assessment,
      },
      isVerified: true,
      isPublished: true,
      pendingPods: 0,
      condition: undefined,
      warnings: [],
      view: view(interfaces),
      releasing: 0,
      inDeficitSince: undefined,
      ...figures,
    },
  };
}

type Blocked = Extract<NodeSummary, { kind: 'blocked' }>;

export function unservedEntry(name: string, more: Partial<Blocked> = {}): NodeSummary {
  const condition = { reason: 'NodeUnreadable', message: '' } as const;
  return { kind: 'blocked', name, condition, pendingPods: 0, blockedSince: 0, ...more };
}
