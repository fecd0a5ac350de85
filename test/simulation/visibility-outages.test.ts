import { describe, expect, test } from '@jest/globals';
import { loadScenario } from './load-scenario.ts';
import { runScenario } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';
import { VisibilityOutages } from './visibility-outages.ts';

/** VMs of the Uniform scale set are in the first zone, and those of the Flexible scale set in the second. */
function outageWith(vms: { readonly uniform: number; readonly flexible: number }): Scenario {
  const { azure, zones, nodes, faults, ...rest } = loadScenario('held-by-the-former-leader-on-azure.json');
  const [zone] = zones;
  const [node] = nodes;
  const [fault] = faults;
  if (azure === undefined || zone === undefined || node === undefined || fault?.kind !== 'blind')
    throw new Error('the scenario is another one');
  const { handover: _, ...outage } = fault;
  return {
    ...rest,
    azure: { ...azure, modes: ['Uniform', 'Flexible'], interfaces: [2, 2], podInterfaces: [1, 0] },
    zones: [zone, { ...zone, podBlocks: ['10.0.65.0/24'] }],
    nodes: [
      ...Array.from({ length: vms.uniform }, () => ({ ...node, zone: 0 })),
      ...Array.from({ length: vms.flexible }, () => ({ ...node, zone: 1 })),
    ],
    faults: [outage],
  };
}

// A refresh reads what a VM of a Flexible set names one by one, so an outage of lists hides nothing of it.
test.each([
  { uniform: 3, flexible: 4 },
  { uniform: 4, flexible: 3 },
])('an outage of lists never hides what the withdrawal brake would let go: %o', async (vms) => {
  const { violations } = await runScenario(outageWith(vms));

  expect(violations).toEqual([]);
});

describe('a read of one instance', () => {
  test('lacks its secondary interface once a whole list has lacked those of more than three', () => {
    const { list, lacks } = hidingReads();

    list('a', ['i-0', 'i-1'], 'first');
    list('a', ['i-2', 'i-3'], 'last');

    expect(lacks('a', 'i-0')).toBe(true);
  });

  test('lacks it again once such reads have lacked those of more than three', () => {
    const { list, lacks } = hidingReads();
    list('a', allInstances, 'only');

    for (const id of allInstances) lacks('a', id);

    expect(lacks('a', 'i-0')).toBe(true);
  });

  test.each<{ readonly why: string; readonly read: (reads: HidingReads) => void }>([
    {
      why: 'a list has lacked those of three only',
      read: ({ list }) => list('a', ['i-0', 'i-1', 'i-2'], 'only'),
    },
    { why: 'the list is not read to its end', read: ({ list }) => list('a', allInstances, 'first') },
    {
      why: 'the list failed and began anew',
      read: ({ list }) => {
        list('a', ['i-0', 'i-1'], 'first');
        list('a', ['i-2', 'i-3'], 'only');
      },
    },
    {
      why: 'the outage began in the middle of a list',
      read: ({ list }) => list('a', allInstances, 'last'),
    },
    { why: 'another process has read the list', read: ({ list }) => list('b', allInstances, 'only') },
    {
      why: 'a read showed one of them while the list was read',
      read: ({ list, lacks }) => {
        list('a', ['i-0', 'i-1'], 'first');
        lacks('a', 'i-1');
        list('a', ['i-2', 'i-3'], 'last');
      },
    },
    {
      why: 'a read showed one of them as the list began',
      read: ({ list, lacks }) => {
        lacks('a', 'i-1');
        list('a', allInstances, 'only');
      },
    },
    {
      why: 'a read showed one of them before a list lacked the fourth',
      read: ({ list, lacks }) => {
        list('a', ['i-0', 'i-1', 'i-2'], 'only');
        lacks('a', 'i-1');
        list('a', ['i-3'], 'only');
      },
    },
    {
      why: 'one of them is not examined',
      read: ({ list, changing }) => {
        changing.add('i-3');
        list('a', allInstances, 'only');
      },
    },
    {
      why: 'it has lacked one already, and such reads have lacked those of three only',
      read: ({ list, lacks }) => {
        list('a', allInstances, 'only');
        for (const id of ['i-0', 'i-1', 'i-2']) lacks('a', id);
      },
    },
    {
      why: 'it has lacked one already, and the fourth such read proved nothing',
      read: ({ list, lacks, changing }) => {
        list('a', allInstances, 'only');
        changing.add('i-3');
        for (const id of allInstances) lacks('a', id);
        changing.delete('i-3');
      },
    },
  ])('shows everything if $why', ({ read }) => {
    const reads = hidingReads();

    read(reads);

    expect(reads.lacks('a', 'i-0')).toBe(false);
  });
});

describe('an interface that is hidden', () => {
  const fiveMinutes = 300_000;

  test('counts as missing until five minutes after the last list that lacks it', () => {
    const { outages, list, pass } = hidingReads();

    list('a', allInstances, 'only');
    pass(fiveMinutes - 1);
    list('a', allInstances, 'only');
    pass(fiveMinutes - 1);

    expect(outages.isRecent(fiveMinutes + 1)).toBe(true);
    expect(outages.isRecent(2 * fiveMinutes - 1)).toBe(false);
  });

  test('counts as missing as long as another outage keeps reads from showing it', () => {
    const { outages, lacks, list, pass, end } = hidingReads();
    list('a', allInstances, 'only');
    end();
    const endOther = outages.begin({ kind: 'blind', what: 'interfaces', share: 0.5, for: 1000 });

    pass(fiveMinutes - 1);
    lacks('a', 'i-0');
    endOther();
    lacks('a', 'i-0');

    expect(outages.isRecent(2 * fiveMinutes - 2)).toBe(true);
    expect(outages.isRecent(2 * fiveMinutes - 1)).toBe(false);
  });

  test('is not missing because of an outage that shows nothing of it', () => {
    const { outages, lacks, end } = hidingReads();
    end();
    outages.begin({ kind: 'blind', what: 'interfaces', share: 0.5, for: 1000 });

    lacks('a', 'i-0');

    expect(outages.isRecent(0)).toBe(false);
  });
});

const allInstances = ['i-0', 'i-1', 'i-2', 'i-3'];

type HidingReads = ReturnType<typeof hidingReads>;

/** Reads of four instances during an outage of secondary interfaces. */
function hidingReads() {
  const changing = new Set<string>();
  let now = 0;
  const outages = new VisibilityOutages({
    now: () => now,
    withSecondary: () => allInstances,
    isExamined: (id) => !changing.has(id),
  });
  const end = outages.begin({ kind: 'blind', what: 'secondaries', share: 0.5, for: 1000 });
  const read = (identity: string, ids: readonly string[], { input = {}, more = false }): number => {
    const answer = outages.shown({
      identity,
      action: 'DescribeNetworkInterfaces',
      input,
      output: { NetworkInterfaces: ids.flatMap(interfacesOf), ...(more && { NextToken: 'more' }) },
    });
    const { NetworkInterfaces: shown } = answer as { readonly NetworkInterfaces: readonly object[] };
    return shown.length;
  };
  return {
    changing,
    outages,
    end,
    pass: (ms: number): void => {
      now += ms;
    },
    list: (identity: string, ids: readonly string[], page: 'first' | 'last' | 'only'): void => {
      const input = { Values: ['in-use'], ...(page === 'last' && { NextToken: 'more' }) };
      read(identity, ids, { input, more: page === 'first' });
    },
    lacks: (identity: string, id: string): boolean => read(identity, [id], {}) < interfacesOf(id).length,
  };
}

function interfacesOf(InstanceId: string) {
  return [0, 1].map((DeviceIndex) => ({ Attachment: { InstanceId, DeviceIndex } }));
}
