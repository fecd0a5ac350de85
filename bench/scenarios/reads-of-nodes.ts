// How many reads of the cloud each node of a scale-up costs.
import { callFigures, callsInWords } from '../call-figures.ts';
import type { FigureContext, Reading } from '../figure.ts';
import { type Form, playScaleUp } from './scale-up-forms.ts';

export async function readsOfNodes(context: FigureContext, form: Form): Promise<Reading> {
  const { calls } = await playScaleUp(context, form);
  return { measured: callFigures(calls).reads / form(context).nodes, details: callsInWords(calls) };
}
