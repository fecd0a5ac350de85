// Assigns addresses and prefixes to interfaces and unassigns them.
import { assign, assignIpv6, unassign, unassignIpv6 } from '../../cloud/assignments.ts';
import { type Action, action } from '../action.ts';
import { Ec2Refusal, invalidParameterCombination, missingParameter } from '../ec2-refusal.ts';
import { as, flag, idOf, integer, list, record, required, text } from '../shape.ts';
import { refusePositive } from './network-interfaces.ts';

const assignPrivateIpAddresses = action({
  dryRun: false,
  input: record({
    NetworkInterfaceId: required(idOf('interfaces')),
    AllowReassignment: flag,
    PrivateIpAddresses: as('PrivateIpAddress', list(text)),
    SecondaryPrivateIpAddressCount: integer,
    Ipv4Prefixes: as('Ipv4Prefix', list(text)),
    Ipv4PrefixCount: integer,
  }),
  output: record({
    NetworkInterfaceId: text,
    AssignedPrivateIpAddresses: as('assignedPrivateIpAddressesSet', list(record({ PrivateIpAddress: text }))),
    AssignedIpv4Prefixes: as('assignedIpv4PrefixSet', list(record({ Ipv4Prefix: text }))),
  }),
  run: (input, { network }) => {
    const { PrivateIpAddresses = [], Ipv4Prefixes = [] } = input;
    const { SecondaryPrivateIpAddressCount: count, Ipv4PrefixCount: prefixCount } = input;
    const ways = [
      PrivateIpAddresses.length > 0,
      Ipv4Prefixes.length > 0,
      count !== undefined,
      prefixCount !== undefined,
    ];
    refuseWays(ways.filter(Boolean).length);
    refusePositive(count, 'secondaryPrivateIpAddressCount');
    refusePositive(prefixCount, 'ipv4PrefixCount');
    const wanted = {
      count: count ?? 0,
      addresses: PrivateIpAddresses,
      prefixCount: prefixCount ?? 0,
      prefixes: Ipv4Prefixes,
    };
    const claimed = assign(network, input.NetworkInterfaceId, wanted, input.AllowReassignment ?? false);
    return {
      NetworkInterfaceId: input.NetworkInterfaceId,
      ...(claimed.addresses.length > 0 && {
        AssignedPrivateIpAddresses: claimed.addresses.map((address) => ({ PrivateIpAddress: address })),
      }),
      ...(claimed.prefixes.length > 0 && {
        AssignedIpv4Prefixes: claimed.prefixes.map((prefix) => ({ Ipv4Prefix: prefix })),
      }),
    };
  },
});

function refuseWays(ways: number): void {
  if (ways === 0) {
    throw new Ec2Refusal(
      'InvalidParameter',
      'One of privateIpAddressSet or privateIpAddressCount or ipv4PrefixSet or ipv4PrefixCount must be specified.',
    );
  }
  if (ways > 1) {
    throw invalidParameterCombination(
      'You may specify one and only one of privateIpAddressSet or secondaryPrivateIpAddressCount or ipv4Prefixes or ipv4PrefixCount, but not more than one of them.',
    );
  }
}

const unassignPrivateIpAddresses = action({
  dryRun: false,
  input: record({
    NetworkInterfaceId: required(idOf('interfaces')),
    PrivateIpAddresses: as('PrivateIpAddress', list(text)),
    Ipv4Prefixes: as('Ipv4Prefix', list(text)),
  }),
  output: record({}),
  run: ({ NetworkInterfaceId, PrivateIpAddresses = [], Ipv4Prefixes = [] }, { network }) => {
    if (PrivateIpAddresses.length + Ipv4Prefixes.length === 0) throw missingParameter('privateIpAddress');
    unassign(network, NetworkInterfaceId, { addresses: PrivateIpAddresses, prefixes: Ipv4Prefixes });
    return {};
  },
});

const assignIpv6Addresses = action({
  dryRun: false,
  input: record({
    NetworkInterfaceId: required(idOf('interfaces')),
    Ipv6Addresses: list(text),
    Ipv6AddressCount: integer,
    Ipv6Prefixes: as('Ipv6Prefix', list(text)),
    Ipv6PrefixCount: integer,
  }),
  output: record({
    NetworkInterfaceId: text,
    AssignedIpv6Addresses: list(text),
    AssignedIpv6Prefixes: as('assignedIpv6PrefixSet', list(text)),
  }),
  run: (input, { network }) => {
    const { Ipv6AddressCount: count, Ipv6PrefixCount: prefixCount } = input;
    refusePositive(count, 'ipv6AddressCount');
    refusePositive(prefixCount, 'ipv6PrefixCount');
    const wanted = {
      count: count ?? 0,
      addresses: input.Ipv6Addresses ?? [],
      prefixCount: prefixCount ?? 0,
      prefixes: input.Ipv6Prefixes ?? [],
    };
    const claimed = assignIpv6(network, input.NetworkInterfaceId, wanted);
    return {
      NetworkInterfaceId: input.NetworkInterfaceId,
      AssignedIpv6Addresses: claimed.ipv6Addresses,
      AssignedIpv6Prefixes: claimed.ipv6Prefixes,
    };
  },
});

const unassignIpv6Addresses = action({
  dryRun: false,
  input: record({
    NetworkInterfaceId: required(idOf('interfaces')),
    Ipv6Addresses: list(text),
    Ipv6Prefixes: as('Ipv6Prefix', list(text)),
  }),
  output: record({
    NetworkInterfaceId: text,
    UnassignedIpv6Addresses: list(text),
    UnassignedIpv6Prefixes: as('unassignedIpv6PrefixSet', list(text)),
  }),
  run: ({ NetworkInterfaceId, Ipv6Addresses = [], Ipv6Prefixes = [] }, { network }) => {
    unassignIpv6(network, NetworkInterfaceId, { ipv6Addresses: Ipv6Addresses, ipv6Prefixes: Ipv6Prefixes });
    return {
      NetworkInterfaceId,
      UnassignedIpv6Addresses: Ipv6Addresses,
      UnassignedIpv6Prefixes: Ipv6Prefixes,
    };
  },
});

export const addressActions: Readonly<Record<string, Action>> = {
  AssignPrivateIpAddresses: assignPrivateIpAddresses,
  UnassignPrivateIpAddresses: unassignPrivateIpAddresses,
  AssignIpv6Addresses: assignIpv6Addresses,
  UnassignIpv6Addresses: unassignIpv6Addresses,
};
