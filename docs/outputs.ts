// The answers that commands print with --output=json, as types. The schemas in docs/output/ are made from them.
import type { AgentReport } from '../src/agent/agent-report.ts';
import type { BlockNodeReport, BlockStatusReport } from '../src/blocks/modes/block-status-report.ts';
import type { Finding, Verdict } from '../src/commands/check/finding.ts';
import type { TypeCapacity } from '../src/commands/max-pods/pod-capacity.ts';
import type { BlockPlan } from '../src/commands/plan/block-plan.ts';
import type { Plan as PlannedNodes } from '../src/commands/plan/plan.ts';
import type { NodeStatusReport } from '../src/controller/reporting/node-status-report.ts';
import type { StatusReport } from '../src/controller/reporting/status-report.ts';

/** The answer of `headwater status` and of `/status`: of a cloud, of blocks, or with `--node` of an agent. */
export type Status = ControllerStatus | AgentReport;

type ControllerStatus = StatusReport | BlockStatusReport;

/** The answer of `headwater explain` and of `/status?node=NAME`. */
export type Explain = NodeStatusReport | BlockNodeReport;

/** The answer of `headwater check`. */
export interface Check {
  /** The worst of all findings. */
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
}

/** The answer of `headwater max-pods`. */
export interface MaxPods {
  /** An entry for each type, in the order of the command line. */
  readonly types: readonly TypeCapacity[];
}

/** The answer of `headwater plan`: of a cloud, or of blocks. */
export type Plan = (PlannedNodes | BlockPlan) & {
  /** Facts that the plan does not count, in words. */
  readonly notes: readonly string[];
};

/** A file of `headwater snapshot`. */
export interface Snapshot {
  readonly kind: 'headwater-snapshot';
  readonly format: 1;
  /** When it was taken, as in RFC 3339. */
  readonly takenAt: string;
  readonly status: ControllerStatus;
}
