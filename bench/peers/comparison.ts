// How much faster, and with how many fewer calls, the scale-ups of this run went than those of others would have.
import { callFigures } from '../call-figures.ts';
import type { FigureContext } from '../figure.ts';
import { scaleUp, type ScaleUp, type ScaleUpPlan } from '../scenarios/scale-up.ts';
import {
  createAndAttach,
  createAndAttachUnscaled,
  oneAssign,
  oneAssignUnscaled,
} from '../scenarios/scale-up-forms.ts';
import { measuredPeer } from './measured-peer.ts';
import { operatorAssumptions, type OperatorScaleUp, operatorScaleUp } from './operator-model.ts';

export interface Comparison {
  readonly lines: readonly string[];
  readonly scaleUps: readonly ComparedScaleUp[];
}

export interface ComparedScaleUp {
  readonly nodes: number;
  readonly firstInterfaceIndex: 0 | 1;
  readonly scale: number;
  readonly timesFaster: number;
  readonly timesFewerCalls: number;
  readonly headwater: { readonly seconds: number; readonly calls: number };
  readonly operatorModel: OperatorScaleUp;
}

/** Compares the scale-ups on EC2 that this run has already played. Plays none itself. */
export async function comparison(context: FigureContext): Promise<Comparison> {
  if (context.cloud !== 'aws') return { lines: [], scaleUps: [] };
  const plans = [createAndAttach, createAndAttachUnscaled, oneAssign, oneAssignUnscaled].map((form) =>
    form(context),
  );
  // Two forms may come to the same.
  const different = new Map(plans.map((plan) => [JSON.stringify(plan), plan]));
  const played: { readonly plan: ScaleUpPlan; readonly result: ScaleUp }[] = [];
  for (const plan of different.values()) {
    const result = await context.scenarios.ifPlayed(plan, scaleUp)?.catch(() => undefined);
    if (result !== undefined) played.push({ plan, result });
  }
  return compare(played);
}

function compare(played: readonly { readonly plan: ScaleUpPlan; readonly result: ScaleUp }[]): Comparison {
  if (played.length === 0) return { lines: [], scaleUps: [] };
  const scaleUps = played.map(({ plan, result }) => comparedWith(plan, result));
  return {
    scaleUps,
    lines: [
      "beside cilium-operator's algorithm (a model, not the program):",
      ...scaleUps.map(operatorLine),
      '  the model assumes:',
      ...operatorAssumptions.map((text) => `  - ${text}`),
      '',
      `beside ${measuredPeer.name} (${measuredPeer.how}):`,
      ...played.map(peerLine),
    ],
  };
}

function comparedWith({ nodes, firstInterfaceIndex, scale }: ScaleUpPlan, result: ScaleUp): ComparedScaleUp {
  const operatorModel = operatorScaleUp({ nodes, firstInterfaceIndex, scale });
  const { calls } = callFigures(result.calls);
  return {
    nodes,
    firstInterfaceIndex,
    scale,
    timesFaster: operatorModel.seconds / result.seconds,
    timesFewerCalls: (operatorModel.mutating + operatorModel.reads) / calls,
    headwater: { seconds: result.seconds, calls },
    operatorModel,
  };
}

function operatorLine(compared: ComparedScaleUp): string {
  const { timesFaster, timesFewerCalls, headwater, operatorModel } = compared;
  const theirs = operatorModel.mutating + operatorModel.reads;
  return (
    `  ${formOf(compared)}: ${timesFaster.toFixed(1)} times faster ` +
    `(${headwater.seconds.toFixed(1)} s, model ${operatorModel.seconds.toFixed(1)} s), ` +
    `${timesFewerCalls.toFixed(2)} times fewer calls (${headwater.calls}, model ${theirs})`
  );
}

function peerLine({ plan, result }: { readonly plan: ScaleUpPlan; readonly result: ScaleUp }): string {
  const { callsPerNode, peakMemoryMiB, cpuSeconds, scaleUps } = measuredPeer;
  const calls = (callFigures(result.calls).calls / plan.nodes).toFixed(2);
  const memory = (result.peakMemory / 2 ** 20).toFixed(0);
  const known = scaleUps.find(({ nodes }) => nodes === plan.nodes);
  const comparable = plan.scale === 1 && plan.firstInterfaceIndex === 0 && known !== undefined;
  const faster = comparable
    ? `${(known.seconds / result.seconds).toFixed(1)} times faster (${result.seconds.toFixed(1)} s, theirs ${known.seconds} s), `
    : '';
  return (
    `  ${formOf(plan)}: ${faster}${calls} calls a node (theirs ${callsPerNode.toFixed(1)}), peak memory ${memory} MiB ` +
    `(theirs ${peakMemoryMiB}), CPU ${result.cpuSeconds.toFixed(1)} s (theirs ${cpuSeconds} with 1000 nodes)`
  );
}

function formOf({ nodes, firstInterfaceIndex, scale }: Omit<ScaleUpPlan, 'cloud' | 'outsideClient'>): string {
  const limits = scale === 1 ? 'unscaled' : `limits × ${scale}`;
  return `${nodes} nodes, ${firstInterfaceIndex === 1 ? 'create + attach' : 'one assign'}, ${limits}`;
}
