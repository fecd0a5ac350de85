import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AccessTokens } from '../../../../src/providers/gce/access-tokens.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const never = new AbortController().signal;
const hour = 3600;

/** What the service answers, and how often it was asked. */
let answer: (count: number) => { readonly status?: number; readonly body: string };
let asked = 0;
let server: Server;
let endpoint = '';

beforeAll(async () => {
  server = createServer((request, response) => {
    const { status = 200, body } = answer(++asked);
    const isAllowed = request.headers['metadata-flavor'] === 'Google';
    response.writeHead(isAllowed ? status : 403).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

function tokens(give: typeof answer): { readonly of: AccessTokens; readonly clock: VirtualClock } {
  [answer, asked] = [give, 0];
  const clock = new VirtualClock();
  return { of: new AccessTokens(endpoint, clock), clock };
}

const numbered = (count: number) => ({
  body: JSON.stringify({ access_token: `t${count}`, expires_in: hour }),
});

describe('the token of a service account', () => {
  test('is asked for once by all who need it, and again before it ends', async () => {
    const { of, clock } = tokens(numbered);

    expect(await Promise.all([of.get(never), of.get(never), of.get(never)])).toEqual(['t1', 't1', 't1']);
    await clock.advance((hour - 230) * 1000);
    expect(await of.get(never)).toBe('t1');
    await clock.advance(10_000);
    expect(await of.get(never)).toBe('t2');
    expect(asked).toBe(2);
  });

  test('is another one after the cloud has refused it', async () => {
    const { of } = tokens(numbered);
    await of.get(never);
    of.forget();

    expect(await of.get(never)).toBe('t2');
  });

  test('is still given to others if one of them no longer waits', async () => {
    const { of } = tokens(numbered);
    const leaving = new AbortController();
    const [left, other] = [of.get(leaving.signal), of.get(never)];
    leaving.abort('it leaves');

    await expect(left).rejects.toBe('it leaves');
    expect(await other).toBe('t1');
  });

  test.each<[string, { readonly status?: number; readonly body: string }]>([
    ['is not found', { status: 404, body: 'secret' }],
    ['fails', { status: 500, body: 'secret' }],
    ['is no JSON', { body: 'secret' }],
    ['is a list', { body: '["secret"]' }],
    ['has no token', { body: '{"token":"secret"}' }],
    ['breaks a header', { body: JSON.stringify({ access_token: 'secret\r\nx: y', expires_in: hour }) }],
    ['is endless', { body: JSON.stringify({ access_token: 'secret'.repeat(1000), expires_in: hour }) }],
  ])('is missing if the answer %s, which nothing quotes, and is asked for again', async (_, bad) => {
    const { of } = tokens((count) => (count === 1 ? bad : numbered(count)));

    const failure = of.get(never);
    await expect(failure).rejects.toMatchObject({ code: 'CredentialsError' });
    await expect(failure).rejects.toThrow(
      /^the metadata service at 127\.0\.0\.1:\d+ gives no token: (?!.*secret)/,
    );
    expect(await of.get(never)).toBe('t2');
  });

  test('that says no end is used once', async () => {
    const { of } = tokens(() => ({ body: JSON.stringify({ access_token: 't', expires_in: 'soon' }) }));

    expect([await of.get(never), await of.get(never)]).toEqual(['t', 't']);
    expect(asked).toBe(2);
  });
});
