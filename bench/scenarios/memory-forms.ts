// The scale-up by which memory and event loop are judged.
import type { Settings, FigureContext } from '../figure.ts';
import { type Footprint, memory } from './memory.ts';

export function playMemory(context: FigureContext, nodes = context.nodes): Promise<Footprint> {
  return context.scenarios.played({ nodes, scale: context.scale }, memory);
}

export const memoryInWords = ({ nodes }: Settings): string =>
  `${nodes} nodes m5.4xlarge that have an interface with 16 addresses each get another with 16; then everything is listed once more, in pages of 1000.`;

export const megabytes = (bytes: number): number => bytes / 1e6;
