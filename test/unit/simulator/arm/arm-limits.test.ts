import { describe, expect, test } from '@jest/globals';
import { armRig, subnetPath, vmPath, withMore } from './arm-rig.ts';

const throttled = `
latency: { scale: 0 }
consistency: { listingLagMs: 0 }
times: { machineMs: 0 }
`;

describe('the limits of Azure', () => {
  test('refuse the thirteenth update of one machine, say when to come back, and are full again later', async () => {
    const { time, send } = armRig(undefined, throttled);
    const { body } = await send('GET', vmPath);
    const put = (): ReturnType<typeof send> => send('PUT', vmPath, { body: withMore(body, 1) });
    for (let sent = 0; sent < 12; sent++) expect((await put()).status).toBe(200);
    const refused = await put();
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('15');
    await time.advance(15_000);
    expect((await put()).status).toBe(200);
  });

  test('tell what is left of each', async () => {
    const { send } = armRig(undefined, throttled);
    const { headers } = await send('GET', vmPath);
    expect(headers['x-ms-ratelimit-remaining-subscription-reads']).toBe('249');
    expect(headers['x-ms-ratelimit-remaining-resource']).toBe(
      'Microsoft.Compute/ScaleSetVmGetResource;35,Microsoft.Compute/ScaleSetVmGetSubscription;5999',
    );
  });

  test('count the reads of a principal over everything that it reads', async () => {
    const { send } = armRig(undefined, throttled);
    for (let sent = 0; sent < 250; sent++) await send('GET', subnetPath);
    const { status, headers } = await send('GET', vmPath);
    expect([status, headers['retry-after']]).toEqual([429, '1']);
  });
});
