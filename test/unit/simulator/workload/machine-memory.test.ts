import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { AddressLedger } from '../../../../src/simulator/workload/address-ledger.ts';
import { MachineMemory } from '../../../../src/simulator/workload/machine-memory.ts';
import { ViolationLog } from '../../../../src/simulator/workload/violation-log.ts';
import { nodeFacts } from './cluster.ts';

function memoryOf(name: string, ledger: AddressLedger, vpcId = 'vpc-1'): MachineMemory {
  const violations = new ViolationLog(name, new VirtualClock(), () => undefined);
  return new MachineMemory({ ...nodeFacts, name, vpcId }, ledger, violations);
}

describe('MachineMemory', () => {
  test('knows which pod uses which address until the address is freed', () => {
    const memory = memoryOf('node-1', new AddressLedger());

    memory.bind('10.0.1.1', 'default/a', 'eni-1');
    const before = [memory.addressOf('default/a'), memory.endpoints.get('10.0.1.1')];
    const freed = [memory.unbind('default/a'), memory.unbind('default/a')];

    expect(before).toEqual(['10.0.1.1', 'default/a']);
    expect(freed).toEqual([['10.0.1.1'], []]);
    expect([memory.addressOf('default/a'), memory.endpoints.size]).toEqual([undefined, 0]);
  });

  test.each<[string, (first: MachineMemory) => void, string, readonly string[]]>([
    ['that another node uses', () => undefined, 'vpc-1', ['used-on-two-nodes']],
    ['of another network', () => undefined, 'vpc-2', []],
    ['that the other node freed', (first) => first.unbind('default/a'), 'vpc-1', []],
    ['of a node that is gone', (first) => first.clear(), 'vpc-1', []],
  ])(
    'reports a violation only while both addresses are in use in one network: an address %s',
    (_, before, network, expected) => {
      const ledger = new AddressLedger();
      const first = memoryOf('node-1', ledger);
      const second = memoryOf('node-2', ledger, network);
      first.bind('10.0.1.1', 'default/a', 'eni-1');

      before(first);
      second.bind('10.0.1.1', 'default/b', 'eni-2');

      expect(second.violations.entries.map((violation) => violation.what)).toEqual(expected);
      expect(first.violations.entries).toEqual([]);
    },
  );
});
