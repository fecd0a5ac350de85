import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Readable } from 'node:stream';
import { AzureApi } from '../../../../src/providers/azure/azure-api.ts';
import { azureClouds } from '../../../../src/providers/azure/azure-clouds.ts';
import { publicIpPrefixes } from '../../../../src/providers/azure/requests.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const request = publicIpPrefixes({ subscriptionId: 's', resourceGroup: 'g' });

/** ARM that refuses some tokens, which are numbered as they are given. */
function refusing(isRefused: (token: number) => boolean) {
  const clock = new VirtualClock();
  const sent: number[] = [];
  const scopes: string[] = [];
  const api = new AzureApi({
    cloud: azureClouds.AzurePublicCloud,
    endpoint: undefined,
    identity: {
      authority: undefined,
      isAuthorityKnown: true,
      managedIdentity: undefined,
    },
    http: {
      connections: 1,
      connectionTimeout: 1000,
      clock,
      proxyFor: () => undefined,
      onRoute: () => undefined,
    },
    credential: {
      getToken: (scope) => {
        scopes.push(String(scope));
        return Promise.resolve({
          token: String(scopes.length - 1),
          expiresOnTimestamp: Date.now() + 86_400_000,
        });
      },
    },
    sender: {
      send: ({ headers }) => {
        const token = Number(headers['authorization']?.split(' ')[1]);
        sent.push(token);
        const statusCode = isRefused(token) ? 401 : 200;
        const error = { code: 'InvalidAuthenticationToken', message: 'The access token is invalid.' };
        const body = Readable.from([Buffer.from(JSON.stringify(isRefused(token) ? { error } : { id: 'x' }))]);
        return Promise.resolve({ statusCode, headers: { 'content-type': 'application/json' }, body });
      },
      close: () => undefined,
    },
  });
  const ask = () =>
    api.send(request, { signal: new AbortController().signal, onSend: () => undefined }).then(
      () => 'answered',
      (error: unknown) => (error as { readonly code: string }).code,
    );
  return { clock, sent, scopes, ask };
}

describe('a token that ARM refuses', () => {
  test('is asked for anew once, and the request is sent with it', async () => {
    const { sent, ask } = refusing((token) => token === 0);

    expect([await ask(), await ask()]).toEqual(['answered', 'answered']);
    expect(sent).toEqual([0, 1, 1]);
  });

  test('is asked for anew once for all requests that had it', async () => {
    const { sent, scopes, ask } = refusing((token) => token === 0);

    expect(await Promise.all([ask(), ask(), ask()])).toEqual(['answered', 'answered', 'answered']);
    expect(sent.filter((token) => token > 0)).toEqual([1, 1, 1]);
    expect(scopes).toHaveLength(2);
  });

  test('is asked for in the other form of the audience, which no cache knows', async () => {
    const { scopes, ask } = refusing((token) => token === 0);

    await ask();

    expect(scopes).toEqual([
      'https://management.azure.com/.default',
      'https://management.azure.com//.default',
    ]);
  });

  test('is not asked for again before a pause if the new one is refused, too', async () => {
    const { clock, sent, ask } = refusing((token) => token < 3);

    const first = [await ask(), await ask(), await ask()];
    const before = [...sent];
    await clock.advance(60_000);
    await ask();
    await clock.advance(60_000);
    await ask();
    await clock.advance(60_000);

    expect(first).toEqual(Array.from({ length: 3 }, () => 'InvalidAuthenticationToken'));
    expect(before).toEqual([0, 1, 1, 1]);
    expect(sent.slice(4)).toEqual([1, 2, 2]);
    expect(await ask()).toBe('answered');
  });

  test('is asked for anew again where a later one is refused after others were accepted', async () => {
    const refused = new Set([0]);
    const { sent, ask } = refusing((token) => refused.has(token));
    await ask();
    await ask();

    refused.add(1);

    expect(await ask()).toBe('answered');
    expect(sent).toEqual([0, 1, 1, 1, 2]);
  });
});

describe('an authority that is not reached', () => {
  const names = ['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET'] as const;
  const before = names.map((name) => process.env[name]);

  beforeEach(() => {
    for (const name of names) process.env[name] = '00000000-0000-0000-0000-0000000000aa';
  });

  afterEach(() => {
    for (const [index, name] of names.entries())
      if (before[index] === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = before[index];
  });

  test('is told in every call that waited for its token', async () => {
    let asked = 0;
    const api = new AzureApi({
      cloud: azureClouds.AzurePublicCloud,
      endpoint: undefined,
      identity: {
        authority: 'https://authority.test',
        isAuthorityKnown: true,
        managedIdentity: undefined,
      },
      http: {
        connections: 1,
        connectionTimeout: 1000,
        clock: new VirtualClock(),
        proxyFor: () => undefined,
        onRoute: () => undefined,
      },
      sender: {
        send: () => {
          asked += 1;
          return Promise.reject(Object.assign(new Error('not trusted'), { code: 'CERT_UNTRUSTED' }));
        },
        close: () => undefined,
      },
    });
    const ask = () =>
      api.send(request, { signal: new AbortController().signal, onSend: () => undefined }).catch(String);

    const answers = await Promise.all([ask(), ask(), ask()]);

    expect(answers).toEqual(Array.from({ length: 3 }, () => expect.stringContaining('not trusted')));
    expect(new Set(answers).size).toBe(1);
    expect(asked).toBeLessThan(3);
  });
});
