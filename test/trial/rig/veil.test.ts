import { expect, test } from '@jest/globals';
import { type Veil, veiledAnswer } from './veil.ts';

function networkInterface(id: string, instanceId: string, deviceIndex: number): string {
  const attachment = `<attachment><deviceIndex>${deviceIndex}</deviceIndex><instanceId>${instanceId}</instanceId></attachment>`;
  return `<item>${attachment}<groupSet><item><groupId>sg-1</groupId></item></groupSet><networkInterfaceId>${id}</networkInterfaceId></item>`;
}

const detached = '<item><groupSet/><networkInterfaceId>eni-9</networkInterfaceId></item>';
const interfaces = [
  networkInterface('eni-1', 'i-1', 0),
  networkInterface('eni-2', 'i-1', 1),
  networkInterface('eni-3', 'i-2', 0),
  detached,
];
const page = (items: readonly string[]): string =>
  `<r><networkInterfaceSet>${items.join('')}</networkInterfaceSet><nextToken>t</nextToken></r>`;

test.each<[string, Veil, readonly number[]]>([
  ['nothing', {}, [0, 1, 2, 3]],
  ['an instance', { instance: (id) => id === 'i-1' }, [2, 3]],
  ['second interfaces', { networkInterface: (_, deviceIndex) => deviceIndex === 1 }, [0, 2, 3]],
  ['all interfaces', { networkInterface: () => true }, [3]],
])('a page of interfaces under a veil that hides %s has the others, each whole', (_, veil, left) => {
  const answer = page(interfaces);

  expect(veiledAnswer('DescribeNetworkInterfaces', answer, veil)).toBe(
    page(left.map((index) => interfaces[index] ?? '')),
  );
});

test('a hidden instance is not described, nor is its reservation when it has no other instance', () => {
  const instance = (id: string): string =>
    `<item><instanceId>${id}</instanceId><tagSet><item><key>a</key></item></tagSet></item>`;
  const reservation = (id: string, ids: readonly string[]): string =>
    `<item><reservationId>${id}</reservationId><instancesSet>${ids.map(instance).join('')}</instancesSet></item>`;
  const answer = (reservations: readonly string[]): string =>
    `<r><reservationSet>${reservations.join('')}</reservationSet></r>`;
  const all = answer([reservation('r-1', ['i-1', 'i-2']), reservation('r-2', ['i-3'])]);

  const veiled = veiledAnswer('DescribeInstances', all, { instance: (id) => id !== 'i-2' });

  expect(veiled).toBe(answer([reservation('r-1', ['i-2'])]));
});

test('a veil leaves other answers as they are', () => {
  expect(veiledAnswer('DescribeSubnets', page(interfaces), { instance: () => true })).toBe(page(interfaces));
});
