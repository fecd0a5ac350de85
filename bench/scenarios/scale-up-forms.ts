// The scale-ups that figures are read from, and what they are in words.
import type { Settings, FigureContext } from '../figure.ts';
import { scaleUp, type ScaleUp, type ScaleUpPlan } from './scale-up.ts';

/** Of the unscaled form: more would only take longer, the bucket alone says how long. */
const mostUnscaled = 200;

type Form = (settings: Settings) => ScaleUpPlan;

const scaled = ({ nodes, scale }: Settings): ScaleUpPlan => ({
  nodes,
  firstInterfaceIndex: 1,
  scale,
  outsideClient: false,
});

export const createAndAttach: Form = scaled;
export const oneAssign: Form = (settings) => ({ ...scaled(settings), firstInterfaceIndex: 0 });
export const besideAnother: Form = (settings) => ({ ...scaled(settings), outsideClient: true });
export const createAndAttachUnscaled: Form = (settings) => ({
  ...scaled(settings),
  nodes: Math.min(settings.nodes, mostUnscaled),
  scale: 1,
});
/** In which the runnable peer was measured. */
export const oneAssignUnscaled: Form = (settings) => ({ ...oneAssign(settings), scale: 1 });

export function playScaleUp(context: FigureContext, form: Form): Promise<ScaleUp> {
  return context.scenarios.played(form(context), scaleUp);
}

export const inWords =
  (form: Form, further = '') =>
  (settings: Settings): string => {
    const { nodes, firstInterfaceIndex, scale, outsideClient } = form(settings);
    const need =
      firstInterfaceIndex === 1
        ? 'first-interface-index 1, so that each needs an interface created and attached'
        : 'first-interface-index 0, so that one assignment is enough for each';
    const limits =
      scale === 1 ? 'limits and latencies of EC2' : `limits of EC2 × ${scale}, its latencies / ${scale}`;
    const beside = outsideClient
      ? '; another client takes half of every bucket at the start and half of what comes in'
      : '';
    return `${nodes} nodes m5.xlarge join at once and want 8 addresses each, ${need}; ${limits}, quota share 1${beside}. ${further}`.trim();
  };
