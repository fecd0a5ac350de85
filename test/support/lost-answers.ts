// The ways in which the answer to a call gets lost, with or without its effect.
import type { Fault } from '../../src/simulator/cloud/faults.ts';

function lost(effect: 'before' | 'after' | 'late', connection: 'drop' | 'hang', delayMs = 0): Fault {
  return { kind: 'lost', effect, connection, delayMs };
}

export interface LostAnswer {
  /** A predicate, such as "gets lost". */
  readonly how: string;
  readonly fault: Fault;
}

export const lostAnswers: readonly LostAnswer[] = [
  { how: 'is lost after it was done', fault: lost('before', 'drop') },
  { how: 'never comes after it was done', fault: lost('before', 'hang') },
  { how: 'is lost before it was done', fault: lost('after', 'drop') },
  { how: 'never comes because it was not done', fault: lost('after', 'hang') },
  { how: 'never comes, and it is done 5 s later', fault: lost('late', 'hang', 5000) },
  { how: 'never comes, and it is done after the time-out', fault: lost('late', 'hang', 45_000) },
  { how: 'ends in the middle', fault: { kind: 'garbled', form: 'truncated' } },
  { how: 'is empty', fault: { kind: 'garbled', form: 'empty' } },
  { how: 'is a page of HTML', fault: { kind: 'garbled', form: 'html502' } },
];

export interface LossOfAction extends LostAnswer {
  readonly action: string;
  readonly times: number;
}

/** Answers to each of the actions, lost or garbled in every way, once and four times in a row. */
export function lossesOf(actions: readonly string[]): readonly LossOfAction[] {
  const ways: readonly LostAnswer[] = [
    ...lostAnswers,
    { how: 'has no ids', fault: { kind: 'garbled', form: 'idsMissing' } },
    { how: 'has unknown values', fault: { kind: 'garbled', form: 'unknownEnum' } },
  ];
  return actions.flatMap((action) =>
    [1, 4].flatMap((times) => ways.map((way) => ({ action, times, ...way }))),
  );
}
