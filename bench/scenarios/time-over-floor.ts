// How long a scale-up took beside the least that the rate limits allow.
import { availableParallelism } from 'node:os';
import { growthOf } from '../clouds/clouds.ts';
import type { Reading, Settings, FigureContext } from '../figure.ts';
import { floorOf } from '../floor.ts';
import { outsideShare } from './outside-client.ts';
import type { ScaleUp, ScaleUpPlan } from './scale-up.ts';
import { playScaleUp } from './scale-up-forms.ts';

export async function timeOverFloor(
  context: FigureContext,
  form: (settings: Settings) => ScaleUpPlan,
): Promise<Reading> {
  const plan = form(context);
  const { nodes, scale, outsideClient } = plan;
  const { calls = [] } = growthOf(plan);
  const floor = floorOf({
    nodes,
    scale,
    calls,
    share: outsideClient ? 1 - outsideShare : 1,
  });
  const { seconds, half, cores } = await playScaleUp(context, form);
  const details = `${seconds.toFixed(2)} s, half of the nodes after ${half.toFixed(2)} s; the least is ${floor.toFixed(2)} s`;
  return {
    measured: seconds / floor,
    details: `${details}\n${coresInWords(cores)}`,
  };
}

/** Whether the machine was the limit. */
export function coresInWords(cores: ScaleUp['cores']): string {
  const busy = Object.entries(cores).map(([name, count]) => `${name} ${count.toFixed(2)}`);
  return `cores busy meanwhile, of ${availableParallelism()}: ${busy.join(', ')}`;
}
