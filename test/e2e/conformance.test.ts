// Sends the request script of the embedded API to a real API server: a difference is a bug of the embedded one.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { sendOverHttp } from '../conformance/kubernetes/http-target.ts';
import { runScript, type Target } from '../conformance/kubernetes/run-script.ts';
import { script } from '../conformance/kubernetes/script/script.ts';
import { type RealApi, startRealApi } from './rig/real-api.ts';

describe('a real kube-apiserver', () => {
  let api: RealApi | undefined;

  beforeAll(async () => {
    api = await startRealApi({ clock: systemClock });
  });

  afterAll(async () => {
    await api?.stop();
  });

  test('answers the request script as the embedded API does', async () => {
    if (api === undefined) throw new Error('it has not been started');

    const outcome = await runScript(await targetOf(api), script);
    for (const title of outcome.omitted)
      process.stdout.write(`not compared, for it needs etcd 3.4.25 or 3.5.8: ${title}\n`);

    expect(outcome.failures).toEqual([]);
    expect(outcome.requests).toBeGreaterThan(200);
  });
});

async function targetOf(api: RealApi): Promise<Target> {
  const { url, caFile, adminToken, readerToken, compactEtcd } = api;
  const server = { url, ca: await readFile(caFile, 'utf8') };
  const tokens = { admin: adminToken, reader: readerToken, stranger: 'token-of-nobody' };
  return {
    send: (request) => sendOverHttp(server, request),
    tokenOf: (sender) => tokens[sender],
    // Its watches end in real time.
    pass: () => Promise.resolve(),
    expireHistory: compactEtcd,
    ...(tellsProgress(await api.etcdVersion()) ? {} : { lacks: 'watch progress' }),
  };
}

/** From 3.4.25 and 3.5.8 on, an API server can ask etcd for the progress of a watch. */
function tellsProgress(etcdVersion: string): boolean {
  const [, minor = 0, patch = 0] = etcdVersion.split('.').map(Number);
  return minor > 5 || (minor === 5 ? patch >= 8 : patch >= 25 && minor === 4);
}
