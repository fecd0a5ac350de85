// The command explain, against processes that answer as controllers of this and other versions do.
import { afterEach, describe, expect, test } from '@jest/globals';
import { json, loopbackServer } from '../../support/loopback-server.ts';
import { endAll, headwater, linesOf } from './child.ts';

const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  await endAll();
  for (const end of ended.splice(0)) await end();
});

const leading = { state: 'leading', identity: 'a-0123456789', version: '1.2.3', paused: [] };
const well = {
  known: true,
  standing: 'satisfied',
  name: 'one',
  available: 8,
  used: 3,
  wanted: 0,
  interfaces: [],
  warnings: [],
  excluded: [],
  calls: [],
  next: { what: 'it wants something', sooner: ['pods that start or wait'] },
};

/** The address of a process that answers so about any node. */
async function answering(node: object, status: object = leading): Promise<string> {
  const server = await loopbackServer(({ url = '' }, response) => {
    if (url === '/readyz') return json(response, 200, 'ok');
    return json(response, 200, url.startsWith('/status?node=') ? node : status);
  });
  ended.push(server.close);
  return `--address=${server.url}`;
}

describe('headwater explain', () => {
  test('shows the chain of a node that is well, as lines and as it is answered', async () => {
    const address = await answering(well);

    const shown = await headwater(['explain', 'one', address]);
    const asJson = await headwater(['explain', address, '--output=json', 'one']);

    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(linesOf(shown.out)).toEqual(
      expect.arrayContaining([
        'one: satisfied',
        'wants       nothing',
        'next try    when it wants something',
      ]),
    );
    expect(asJson).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(asJson.out)).toEqual(well);
  });

  test('ends with exit code 1 if somebody has to act', async () => {
    const address = await answering({
      ...well,
      standing: 'in_deficit',
      reason: 'SubnetsExhausted',
      why: 'no address is left in a: free some',
      calls: [
        {
          secondsAgo: 12,
          operation: 'createInterface',
          resource: 'subnet-a',
          outcome: 'refused',
          action: 'CreateNetworkInterface',
          code: 'InsufficientFreeAddressesInSubnet',
          message: 'full',
          requestId: 'r-1',
        },
      ],
    });

    const { code, out } = await headwater(['explain', 'one', address]);

    expect(code).toBe(1);
    expect(linesOf(out)).toEqual(
      expect.arrayContaining([
        'reason      SubnetsExhausted',
        'why         no address is left in a: free some',
        '12 s ago    create interface on subnet-a: refused, CreateNetworkInterface answers InsufficientFreeAddressesInSubnet: full (request r-1)',
      ]),
    );
  });

  test.each([
    ['awaitsAgent', 'one: awaits agent', 1],
    ['leftAlone', 'one: left alone', 0],
  ])('of a node that is not served: %s', async (standing, line, code) => {
    const next = { what: 'its agent creates the CiliumNode', sooner: [] };
    const address = await answering({ known: true, standing, name: 'one', why: 'so', next });

    const shown = await headwater(['explain', 'one', address]);

    expect({ code: shown.code, lines: linesOf(shown.out) }).toEqual({
      code,
      lines: [line, 'why         so', 'next try    when its agent creates the CiliumNode'],
    });
  });

  test.each<[string, object, object, string]>([
    [
      'a node that is not known, and a name like it',
      { known: false, node: 'onr', state: 'leading', nearest: 'one' },
      leading,
      'no node "onr" is known to a-0123456789; did you mean one?',
    ],
    [
      'a node that is not known',
      { known: false, node: 'onr', state: 'leading' },
      leading,
      'no node "onr" is known to a-0123456789',
    ],
    [
      'a standby',
      { known: false, node: 'onr', state: 'standby', leader: 'b-1' },
      { ...leading, state: 'standby', leader: 'b-1' },
      'only the leader knows the nodes: ask b-1',
    ],
  ])('ends with exit code 2 and one line: %s', async (_, node, status, line) => {
    const { code, err } = await headwater(['explain', 'onr', await answering(node, status)]);

    expect({ code, err }).toEqual({ code: 2, err: `headwater explain: ${line}\n` });
  });

  test('says that a leader of a version without single nodes is to be updated', async () => {
    const { code, out, err } = await headwater(['explain', 'one', await answering(leading)]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/a-0123456789, of version 1\.2\.3, tells nothing of single nodes: update it\n$/);
  });

  test('says what a leader of a version without the chain leaves out', async () => {
    const { calls: _, next: __, ...old } = well;

    const { code, out } = await headwater(['explain', 'one', await answering(old)]);

    expect(code).toBe(0);
    expect(linesOf(out)).toContain('next        version 1.2.3 of the leader does not tell more: update it');
  });

  test.each<[string[], RegExp]>([
    [['explain'], /missing required argument 'node'/],
    [['explain', 'one', 'two'], /unexpected argument "two"/],
    [['explain', '--adress=x', 'one'], /unknown option --adress; did you mean --address\?/],
    [['explain', 'one', '--address=127.0.0.1:1'], /cannot read 127\.0\.0\.1:1: connect ECONNREFUSED/],
    [['explain', 'one'], /found no cluster: /],
  ])('ends with exit code 2 and one line: %j', async (args, line) => {
    const { code, out, err } = await headwater(args);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err)).toEqual([expect.stringMatching(line)]);
  });
});
