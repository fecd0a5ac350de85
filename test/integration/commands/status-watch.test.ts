// `headwater status --watch` without a terminal: each answer in turn, until a signal or its reader ends it.
import { afterEach, describe, expect, test } from '@jest/globals';
import { json, loopbackServer } from '../../support/loopback-server.ts';
import { Child, endAll, headwater, linesOf } from './child.ts';

const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  await endAll();
  for (const end of ended.splice(0)) await end();
});

/** A leader whose answers are numbered. `answer`: undefined refuses the connection from then on. */
async function leader(reasonsOf: (answer: number) => object | undefined): Promise<string> {
  let answers = 0;
  const server = await loopbackServer(({ url, socket }, response) => {
    if (url === '/readyz') return json(response, 200, 'ok');
    const reasons = reasonsOf(++answers);
    if (reasons === undefined) return void socket.destroy();
    json(response, 200, { state: 'leading', identity: `answer-${answers}`, paused: [], reasons });
  });
  ended.push(server.close);
  return `--address=${server.url}`;
}

describe('headwater status --watch', () => {
  test('shows each answer, and ends by a signal with the exit code of the last', async () => {
    const address = await leader((answer) => (answer < 3 ? {} : { SubnetsExhausted: 1 }));
    const watching = new Child(['status', '--watch=1', address]);

    await watching.said(/^answer-1: leading$/m);
    await watching.said(/^answer-3: leading$[^]*1 node with a reason$[^]*^SubnetsExhausted/m);
    const { code, err } = await watching.stop('SIGINT');

    expect({ code, err }).toEqual({ code: 1, err: '' });
  });

  test('goes on while nobody answers, and says so', async () => {
    const address = await leader((answer) => (answer === 2 ? undefined : {}));
    const watching = new Child(['status', '--watch', '1', address]);

    await watching.said(/^answer-3: leading$/m);
    const { code, err } = await watching.stop();

    expect(code).toBe(0);
    expect(linesOf(err)).toContainEqual(
      expect.stringMatching(/^headwater status: cannot read .*socket hang up/),
    );
  });

  test('prints one answer of JSON after the other', async () => {
    const watching = new Child(['status', '--watch=1', '--output=json', await leader(() => ({}))]);

    await watching.said(/"answer-2"/);
    const { out } = await watching.stop();

    expect(out.match(/"identity": ?"answer-\d+"/g)?.length).toBeGreaterThanOrEqual(2);
  });

  test('ends once its reader is gone', async () => {
    const watching = new Child(['status', '--watch=1', await leader(() => ({}))]);

    await watching.said(/answer-1/);
    watching.hangUp();

    expect((await watching.ended).signal).toBeUndefined();
  });

  test.each(['0', 'often', '-1', '3601'])('refuses --watch=%s', async (seconds) => {
    const { code, err } = await headwater(['status', `--watch=${seconds}`, '--address=127.0.0.1:1']);

    expect(code).toBe(2);
    expect(err).toBe(`headwater status: --watch is "${seconds}"; accepted: a whole number from 1 to 3600\n`);
  });
});
