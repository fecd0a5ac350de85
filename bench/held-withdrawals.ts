// What a refresh of one instance costs in a large fleet, in ms of CPU: while no other instance misses anything, and while each does
// and the withdrawal brake holds what is missing.
//
//   node bench/held-withdrawals.ts [--nodes N]
import { parseArgs } from 'node:util';
import { WithdrawalBrake } from '../src/manager/withdrawals/withdrawal-brake.ts';
import type { NodeMember } from '../src/manager/withdrawals/withdrawal-decision.ts';
import type { NetworkInterface } from '../src/providers/contract/network-interface.ts';
import { Inventory } from '../src/providers/inventory/inventory.ts';

/** In ms. */
const consistencyWindow = 30_000;
const perCall = 200;
const turns = 200;
/** Addresses of each of the four interfaces, complete and with some missing. */
const wholeAddresses = 15;
const fewAddresses = 5;

const { values } = parseArgs({ options: { nodes: { type: 'string', default: '10000' } } });
const nodes = Number(values.nodes);
const everybody = Array.from({ length: nodes }, (_, index) => index);

class Fleet {
  readonly #inventory: Inventory;
  #now = 0;

  constructor() {
    const brake: WithdrawalBrake = new WithdrawalBrake({
      held: {
        heldWithdrawals: () => this.#inventory.heldWithdrawals(),
        reevaluate: (now) => this.#inventory.reevaluate(now),
      },
      fleet: { members: () => everybody.map(memberOf) },
      consistencyWindow,
      clock: { wall: () => 0 },
      inherited: undefined,
      approval: { token: undefined },
      onChange: () => undefined,
    });
    this.#inventory = new Inventory({ consistencyWindow, gate: brake });
    for (const index of everybody) this.#inventory.track(idOf(index));
  }

  get held(): number {
    return this.#inventory.heldWithdrawals().size;
  }

  /** Each in a call with others, a consistency window after what was read before. */
  refreshAll(count: number): void {
    this.#now += consistencyWindow;
    for (let first = 0; first < nodes; first += perCall)
      this.refresh(everybody.slice(first, first + perCall), count);
  }

  refresh(indices: readonly number[], count: number): void {
    const observations = indices.flatMap((index) =>
      [0, 1, 2, 3].map((slot) => ({
        kind: 'interface' as const,
        interface: interfaceOf(index, slot, count),
      })),
    );
    this.#now++;
    const instanceIds = indices.map(idOf);
    this.#inventory.applyRefresh({ startedAt: this.#now, endedAt: this.#now, instanceIds, observations });
  }
}

function idOf(index: number): string {
  return `i-${index.toString(16).padStart(17, '0')}`;
}

function memberOf(index: number): NodeMember {
  const name = `node-${index}`;
  return {
    node: { name, uid: name, nodeUid: name },
    hasNode: true,
    instanceId: idOf(index),
    networkId: 'vpc-1',
    usesAddresses: true,
    presence: 'shown',
  };
}

function interfaceOf(index: number, slot: number, count: number): NetworkInterface {
  const addressOf = (number: number): string => {
    const value = index * 64 + slot * 16 + number;
    return `10.${value >> 16}.${(value >> 8) & 255}.${value & 255}`;
  };
  return {
    id: `eni-${index}-${slot}`,
    description: '',
    networkId: 'vpc-1',
    subnetId: 'subnet-1',
    zone: 'eu-central-1a',
    mac: '02:00:00:00:00:01',
    primaryAddress: addressOf(0),
    publicAddress: undefined,
    addresses: Array.from({ length: count }, (_, number) => addressOf(number + 1)),
    prefixes: [],
    securityGroupIds: ['sg-1'],
    tags: {},
    reservedFor: undefined,
    attachment: {
      id: `attach-${index}-${slot}`,
      instanceId: idOf(index),
      deviceIndex: slot,
      networkCard: 0,
      state: 'attached',
      deleteOnTermination: true,
    },
  };
}

/** CPU time of `work`, in ms, which does not depend on how busy the machine is. */
function cpuOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** Mean of what one refresh takes. */
function measure(refresh: (turn: number) => void): string {
  const taken = cpuOf(() => everybody.slice(0, turns).forEach(refresh));
  return `${(taken / turns).toFixed(2)} ms`;
}

function tell(what: string, figure: string): void {
  process.stdout.write(`${nodes} nodes, ${what}: ${figure}\n`);
}

const fleet = new Fleet();
fleet.refreshAll(wholeAddresses);
tell(
  'nothing is missing',
  measure((turn) => fleet.refresh([turn], wholeAddresses)),
);
const twice = cpuOf(() => {
  fleet.refreshAll(fewAddresses);
  fleet.refreshAll(fewAddresses);
});
tell(
  `all are read twice, ${perCall} a call, and miss addresses, ${fleet.held} held`,
  `${twice.toFixed(0)} ms`,
);
tell(
  'one of them is read and misses as much',
  measure((turn) => fleet.refresh([turn], fewAddresses)),
);
tell(
  'one of them is read and misses nothing',
  measure((turn) => fleet.refresh([turn], wholeAddresses)),
);
