// Splits a request about many values into parts that a cloud accepts. A refused part is split in halves until the
// refusal is tied to one value, so all other values are answered. A missing permission is usually missing for all values, so
// it is tied to one only where each has a request of its own.
import { CloudError, type CloudFailure } from '../contract/cloud-failure.ts';
import { mayConcern } from '../contract/failure-policy.ts';

export interface RefusedValue {
  readonly value: string;
  readonly failure: CloudFailure;
}

/**
 * Yields the results of `ask` for each part, with at most `max` values per part. Rejects for any cause other
 * than a value, and if every value was refused. `onRefused` receives the refused values if others were
 * accepted.
 */
export async function* inParts<T>(
  values: readonly string[],
  max: number,
  ask: (part: readonly string[]) => AsyncIterable<T>,
  onRefused: (refused: RefusedValue) => void = () => undefined,
): AsyncGenerator<T> {
  const waiting = partsOf(values, max);
  const refused: RefusedValue[] = [];
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    try {
      yield* ask(part);
    } catch (error) {
      if (!mayBeOfAValue(error, max)) throw error;
      const [value = '', ...others] = part;
      if (others.length === 0) refused.push({ value, failure: error.failure });
      else waiting.unshift(...partsOf(part, Math.ceil(part.length / 2)));
    }
    const [first] = refused;
    if (refused.length === values.length && first !== undefined) throw new CloudError(first.failure);
  }
  for (const each of refused) onRefused(each);
}

/** The same for requests with a single answer. */
export async function allInParts<T>(
  values: readonly string[],
  max: number,
  ask: (part: readonly string[]) => Promise<T>,
  onRefused?: (refused: RefusedValue) => void,
): Promise<T[]> {
  const answers: T[] = [];
  const once = async function* (part: readonly string[]): AsyncGenerator<T> {
    yield await ask(part);
  };
  for await (const answer of inParts(values, max, once, onRefused)) answers.push(answer);
  return answers;
}

function mayBeOfAValue(error: unknown, max: number): error is CloudError {
  if (!(error instanceof CloudError)) return false;
  return mayConcern(error.failure, 'thing') || (max === 1 && error.failure.permission !== undefined);
}

export function partsOf<T>(values: readonly T[], max: number): (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let from = 0; from < values.length; from += max) parts.push(values.slice(from, from + max));
  return parts;
}
