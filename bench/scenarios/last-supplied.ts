// How long a scale-up took in all.
import type { FigureContext, Reading } from '../figure.ts';
import { type Form, playScaleUp } from './scale-up-forms.ts';
import { coresInWords } from './time-over-floor.ts';

export async function lastSuppliedOf(context: FigureContext, form: Form): Promise<Reading> {
  const { seconds, half, cores } = await playScaleUp(context, form);
  return {
    measured: seconds,
    details: `half of the nodes after ${half.toFixed(2)} s\n${coresInWords(cores)}`,
  };
}
