import { afterEach, describe, expect, test } from '@jest/globals';
import { readStatus } from '../../../src/commands/status/served-report.ts';
import { type Answer, loopbackServer } from '../../support/loopback-server.ts';

const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

describe('what a process serves', () => {
  test.each<[string, Answer, RegExp, number?]>([
    ['never answers', () => undefined, /^no answer within 0\.1 s$/, 100],
    ['never ends its answer', (_, response) => void response.write('{'), /^the answer is cut off: /, 1000],
    ['ends the connection', ({ socket }) => void socket.destroy(), /^socket hang up$/],
    ['answers with a page', (_, response) => void response.end('<html>'), /no report of a controller/],
  ])('is not read if it %s, and why is in words', async (_, answer, problem, limit = 10_000) => {
    const server = await loopbackServer(answer);
    ended.push(server.close);
    const port = new URL(server.url).port;

    const read = await readStatus(() => Promise.resolve({ host: '127.0.0.1', port }), { limit });

    expect(read).toMatch(problem);
  });
});
