// The scale-ups that figures are read from, and what they are in words.
import { cloudOf, growthOf } from '../clouds/clouds.ts';
import type { Settings, FigureContext } from '../figure.ts';
import { scaleUp, type ScaleUp, type ScaleUpPlan } from './scale-up.ts';

/** The most nodes of the unscaled form. More nodes would only take longer, in proportion to the bucket. */
const maxUnscaled = 200;

export type Form = (settings: Settings) => ScaleUpPlan;

/** The scale-up in which nodes join as is usual in the cloud. */
export const usual: Form = (settings) => {
  const cloud = cloudOf(settings);
  return {
    cloud: cloud.name,
    nodes: Math.min(settings.nodes, cloud.largestScaleUp),
    firstInterfaceIndex: cloud.usual.firstInterfaceIndex,
    scale: settings.scale,
    outsideClient: false,
  };
};

export const createAndAttach: Form = (settings) => ({ ...usual(settings), firstInterfaceIndex: 1 });
/** For what is stated for so many nodes at the limits and latencies of the cloud. */
export const createAndAttachOf =
  (nodes: number): Form =>
  (settings) => ({ ...createAndAttach(settings), nodes, scale: 1 });
export const oneAssign: Form = (settings) => ({ ...usual(settings), firstInterfaceIndex: 0 });
export const besideAnother: Form = (settings) => ({ ...createAndAttach(settings), outsideClient: true });
export const createAndAttachUnscaled: Form = (settings) =>
  createAndAttachOf(Math.min(createAndAttach(settings).nodes, maxUnscaled))(settings);
/** For what is stated for so many nodes at the limits and latencies of the cloud. */
export const oneAssignOf =
  (nodes: number): Form =>
  (settings) => ({ ...oneAssign(settings), nodes, scale: 1 });
/** The scale-up in which the runnable peer was measured. */
export const oneAssignUnscaled: Form = (settings) => ({ ...oneAssign(settings), scale: 1 });

export function playScaleUp(context: FigureContext, form: Form): Promise<ScaleUp> {
  return context.scenarios.played(form(context), scaleUp);
}

export const inWords =
  (form: Form, further = '') =>
  (settings: Settings): string => {
    const plan = form(settings);
    const { nodes, scale, outsideClient } = plan;
    const { title, usual: node } = cloudOf(plan);
    const limits =
      scale === 1
        ? `limits and latencies of ${title}`
        : `limits of ${title} × ${scale}, its latencies / ${scale}`;
    const beside = outsideClient
      ? '; another client takes half of every bucket at the start and half of what comes in'
      : '';
    return `${nodes} nodes ${node.type} join at once and want ${node.wanted} addresses each, ${growthOf(plan).words}; ${limits}, quota share 1${beside}. ${further}`.trim();
  };
