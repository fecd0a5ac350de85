// The idle fleet that figures are read from.
import type { Settings, FigureContext } from '../figure.ts';
import { idle, type Idleness, type IdlePlan } from './idle.ts';

/** The length of the full form in seconds. Every figure about idleness is stated for it. */
const fullTime = 600;
/** The length of the small form in seconds. With `hurry`, a listing of the cloud falls into that time. */
const smallTime = 15;
const hurry = ['--resync-interval=10s'] as const;

function planFor(settings: Settings): IdlePlan {
  const { cloud, nodes, scale, isSmall } = settings;
  const [seconds, flags] = isSmall ? [smallTime, hurry] : [fullTime, []];
  return { cloud, nodes, scale, seconds, flags };
}

export function playIdle(context: FigureContext): Promise<Idleness> {
  return context.scenarios.played(planFor(context), idle);
}

export function idleInWords(settings: Settings): string {
  const { nodes, seconds, flags } = planFor(settings);
  const listed = flags.length > 0 ? ', and the cloud is listed every 10 s' : '';
  return `${nodes} nodes have what they need; nothing happens for ${seconds} s${listed}.`;
}
