import { describe, expect, test } from '@jest/globals';
import { CredentialRenewals } from '../../../src/network/credential-renewals.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

/** A service that accepts one key, and a source whose next key is that of `next`. */
function rig(accepted: () => string, next: (count: number) => string) {
  const clock = new VirtualClock();
  let key = 'k0';
  let renewed = 0;
  const sent: string[] = [];
  const source = {
    current: () => Promise.resolve(key),
    renew: async () => {
      await Promise.resolve();
      key = next(++renewed);
      return key;
    },
    isSame: (one: string, other: string) => one === other,
  };
  const renewals = new CredentialRenewals(source, clock);
  const send = async (): Promise<string> => {
    const attempt = (given: string): Promise<string> => {
      sent.push(given);
      return given === accepted() ? Promise.resolve('done') : Promise.reject(new Error('401'));
    };
    return renewals.send(attempt, (error) => (error as Error).message === '401', key);
  };
  return { clock, send, sent, renewals: () => renewed };
}

describe('a credential that is refused before its end', () => {
  test('is renewed at once by all that were refused together, and nobody learns of it', async () => {
    const { send, sent, renewals } = rig(
      () => 'k1',
      (count) => `k${count}`,
    );

    expect(await Promise.all([send(), send(), send()])).toEqual(['done', 'done', 'done']);
    expect(renewals()).toBe(1);
    expect(sent).toEqual(['k0', 'k0', 'k0', 'k1', 'k1', 'k1']);
  });

  test('is renewed ever more rarely if that does not help', async () => {
    const { clock, send, renewals } = rig(
      () => 'none',
      (count) => `k${count}`,
    );
    const counts: number[] = [];

    for (let minute = 0; minute < 30; minute++) {
      for (let call = 0; call < 20; call++) await expect(send()).rejects.toThrow('401');
      counts.push(renewals());
      await clock.advance(60_000);
    }

    expect(counts[0]).toBe(1);
    expect(counts.at(-1)).toBeLessThanOrEqual(10);
  });

  test('is not sent again if the source has no other', async () => {
    const { send, sent } = rig(
      () => 'none',
      () => 'k0',
    );

    await expect(send()).rejects.toThrow('401');
    expect(sent).toEqual(['k0']);
  });
});
