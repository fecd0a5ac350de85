// The scale-up by which memory and event loop are judged.
import { cloudOf } from '../clouds/clouds.ts';
import type { Settings, FigureContext } from '../figure.ts';
import { type Footprint, memory } from './memory.ts';

export function playMemory(context: FigureContext, nodes = context.nodes): Promise<Footprint> {
  return context.scenarios.played({ cloud: context.cloud, nodes, scale: context.scale }, memory);
}

export const memoryInWords = (settings: Settings): string =>
  `${settings.nodes} ${cloudOf(settings).large.words}`;

export const megabytes = (bytes: number): number => bytes / 1e6;
