import { describe, expect, test } from '@jest/globals';
import { allInParts, type RefusedValue } from '../../../../src/providers/reading/in-parts.ts';
import { CloudError, type CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';

function refusal(kind: CloudFailureKind): CloudError {
  return new CloudError({ kind, action: 'DescribeVpcs', code: 'Odd', message: 'odd', requestId: undefined });
}

/** A cloud that refuses every request with one of the bad values in it. */
function asking(values: readonly string[], bad: readonly string[], kind: CloudFailureKind = 'invalid') {
  const asked: number[] = [];
  const refused: RefusedValue[] = [];
  const answers = allInParts(
    values,
    200,
    (part) => {
      asked.push(part.length);
      if (part.some((value) => bad.includes(value))) return Promise.reject(refusal(kind));
      return Promise.resolve(part);
    },
    (each) => refused.push(each),
  );
  return { answers: answers.then((parts) => parts.flat()), asked, refused };
}

const values = Array.from({ length: 450 }, (_, index) => `v${index}`);

describe('a question about many values', () => {
  test('is sent in parts that the cloud accepts', async () => {
    const { answers, asked } = asking(values, []);

    expect(await answers).toEqual(values);
    expect(asked).toEqual([200, 200, 50]);
  });

  test('is answered for all values except those that the cloud refuses, which it names', async () => {
    const { answers, asked, refused } = asking(values, ['v7', 'v449']);

    expect(await answers).toEqual(values.filter((value) => !['v7', 'v449'].includes(value)));
    expect(refused.map(({ value }) => value)).toEqual(['v7', 'v449']);
    expect(asked.length).toBeLessThan(36);
  });

  test('fails when every value is refused', async () => {
    await expect(asking(['a', 'b'], ['a', 'b']).answers).rejects.toThrow('DescribeVpcs failed: Odd: odd');
  });

  test.each<CloudFailureKind>(['throttled', 'unreachable', 'notAuthorized', 'unreadable'])(
    'is not split for an error that no value causes (%s)',
    async (kind) => {
      const { answers, asked } = asking(values, ['v7'], kind);

      await expect(answers).rejects.toThrow('odd');
      expect(asked).toEqual([200]);
    },
  );

  test.each([
    [1, ['a', 'c']],
    [2, 'denied'],
  ])('in parts of %i is answered for what is not denied: %j', async (max, expected) => {
    const permission = 'vpc:DescribeVpcs';
    const denied = new CloudError({ ...refusal('notAuthorized').failure, permission });
    const refused: RefusedValue[] = [];
    const ask = (part: readonly string[]): Promise<readonly string[]> =>
      part.includes('b') ? Promise.reject(denied) : Promise.resolve(part);

    const answers = await allInParts(['a', 'b', 'c'], max, ask, (each) => refused.push(each)).then(
      (parts) => parts.flat(),
      () => 'denied',
    );

    expect(answers).toEqual(expected);
    expect(refused.map(({ value }) => value)).toEqual(max === 1 ? ['b'] : []);
  });

  test('is not sent when there is no value', async () => {
    const { answers, asked } = asking([], []);

    expect(await answers).toEqual([]);
    expect(asked).toEqual([]);
  });
});
