import { describe, expect, test } from '@jest/globals';
import { table, told } from '../../../../src/commands/status/text-table.ts';

const vm = '/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/nodes/providers/vms/pool/vms';

function textsOf(lines: readonly { readonly text: string }[]): readonly string[] {
  return lines.map(({ text }) => text);
}

describe('a paragraph', () => {
  test('shows the last parts of a path that is wider than its lines', () => {
    const text = `${vm}/0/nics/nic0: index 0, in /a/b`;

    expect(textsOf(told('interface', text)(50))).toEqual([
      'interface   …/providers/vms/pool/vms/0/nics/nic0:',
      '            index 0, in /a/b',
    ]);
    expect(textsOf(told('interface', text)(undefined))).toEqual([`interface   ${text}`]);
  });

  test.each([
    ['x'.repeat(60), `${'x'.repeat(14)}…${'x'.repeat(13)}`],
    [`${'a'.repeat(30)}/b`, `${'a'.repeat(14)}…${'a'.repeat(11)}/b`],
    [`/a/${'b'.repeat(30)}c`, `/a/${'b'.repeat(11)}…${'b'.repeat(12)}c`],
  ])('shows both ends of another word that is wider than its lines: %s', (word, shown) => {
    expect(textsOf(told('', word)(40))).toEqual([`${' '.repeat(12)}${shown}`]);
  });

  test.each([undefined, 40])('is apart from a label of any length, in a width of %s', (width) => {
    expect(textsOf(told('unverifiable', 'many')(width))).toEqual(['unverifiable many']);
    expect(textsOf(told('last verified', 'many')(width))).toEqual(['last verified many']);
  });
});

test('a table shows the last parts of a path that is wider than its column', () => {
  const columns = [['ID', (id: string) => id]] as const;

  expect(textsOf(table([`${vm}/0/nics/nic0`], { columns })(30))).toEqual([
    'ID',
    '…/vms/pool/vms/0/nics/nic0',
  ]);
});
