"""Assigning and unassigning addresses and prefixes, and how many fit."""

from table import ERRORS, INTERFACES, PREFIXES, RESERVATIONS, SUBNET_SIZE, page, refused, yields

ASSIGN = page('AssignPrivateIpAddresses')
UNASSIGN = page('UnassignPrivateIpAddresses')
ASSIGN6 = page('AssignIpv6Addresses')
UNASSIGN6 = page('UnassignIpv6Addresses')

UNKNOWN_ENI = 'eni-00000000000000000'


def assigned(s, **what):
    return [one['PrivateIpAddress'] for one in s.assign(**what).get('AssignedPrivateIpAddresses', [])]


def assigned_prefixes(s, **what):
    return [one['Ipv4Prefix'] for one in s.assign(**what).get('AssignedIpv4Prefixes', [])]


def only_new_ones(s):
    first = assigned(s, SecondaryPrivateIpAddressCount=2)
    second = assigned(s, SecondaryPrivateIpAddressCount=3)
    return len(second), set(second) & set(first), len(s.addresses())


def moved(s, allow):
    other = s.new_eni()
    s.assign(other, PrivateIpAddresses=['10.0.0.77'])
    s.assign(PrivateIpAddresses=['10.0.0.77'], AllowReassignment=allow)
    return '10.0.0.77' in s.addresses(), '10.0.0.77' in s.addresses(other)


def public_moves_along(s):
    other = s.new_eni()
    s.assign(other, PrivateIpAddresses=['10.0.0.77'])
    s.ec2.associate_address(AllocationId=s.allocate(), NetworkInterfaceId=other, PrivateIpAddress='10.0.0.77')
    s.assign(PrivateIpAddresses=['10.0.0.77'], AllowReassignment=True)
    return [one['PrivateIpAddress'] for one in s.look()['PrivateIpAddresses'] if 'Association' in one]


def inside_a_prefix(s):
    other = s.new_eni(Ipv4Prefixes=[{'Ipv4Prefix': '10.0.0.64/28'}])
    return other and s.assign(PrivateIpAddresses=['10.0.0.70'], AllowReassignment=True)


def unassigned(s):
    addresses = assigned(s, SecondaryPrivateIpAddressCount=2)
    s.unassign(PrivateIpAddresses=addresses[:1])
    return s.addresses()[1:] == addresses[1:]


def all_or_none(s):
    addresses = assigned(s, SecondaryPrivateIpAddressCount=1)
    try:
        s.unassign(PrivateIpAddresses=[*addresses, '10.0.9.9'])
    except s.ec2.exceptions.ClientError:
        return len(s.addresses())


def reused(s):
    """The cloud of the rows always prefers what was just freed."""
    [address] = assigned(s, SecondaryPrivateIpAddressCount=1)
    s.unassign(PrivateIpAddresses=[address])
    return s.addresses(s.new_eni(s.subnet)) == [address]


def capacity(s, type, slots):
    eni = s.primary_of(s.launch(type))['NetworkInterfaceId']
    s.assign(eni, SecondaryPrivateIpAddressCount=slots)
    return s.assign(eni, SecondaryPrivateIpAddressCount=1)


def filled(s, type, slots):
    eni = s.primary_of(s.launch(type))['NetworkInterfaceId']
    s.assign(eni, SecondaryPrivateIpAddressCount=slots)
    return len(s.addresses(eni))


def mixed(s, addresses, prefixes):
    eni = s.primary_of(s.instance)['NetworkInterfaceId']
    s.assign(eni, SecondaryPrivateIpAddressCount=addresses)
    s.assign(eni, Ipv4PrefixCount=prefixes)
    return len(s.addresses(eni)), len(s.prefixes(eni))


def prefix_round(s):
    before = s.available()
    prefixes = assigned_prefixes(s, Ipv4PrefixCount=2)
    during = s.available()
    s.unassign(Ipv4Prefixes=prefixes)
    return before - during - 1, before - s.available() - 1, s.prefixes()


def reserve(s, block, type):
    made = s.ec2.create_subnet_cidr_reservation(SubnetId=s.subnet, Cidr=block, ReservationType=type)
    return made['SubnetCidrReservation']


def ipv6(s, **what):
    eni = s.new_eni(s.dual_subnet)
    return eni, s.ec2.assign_ipv6_addresses(NetworkInterfaceId=eni, **what)


def ipv6_round(s):
    eni, answer = ipv6(s, Ipv6PrefixCount=2)
    gone = s.ec2.unassign_ipv6_addresses(NetworkInterfaceId=eni, Ipv6Prefixes=answer['AssignedIpv6Prefixes'][:1])
    left = [one['Ipv6Prefix'] for one in s.look(eni)['Ipv6Prefixes']]
    return left == answer['AssignedIpv6Prefixes'][1:] and gone['UnassignedIpv6Prefixes'] == answer['AssignedIpv6Prefixes'][:1]


def xen(s):
    return s.primary_of(s.launch('m4.large'))['NetworkInterfaceId']


ROWS = [
    # Assigning
    yields('assign: by count', ASSIGN, lambda s: len(assigned(s, SecondaryPrivateIpAddressCount=3)), 3),
    yields('assign: the answer has the new ones only', ASSIGN, only_new_ones, (3, set(), 6)),
    yields('assign: certain addresses', ASSIGN, lambda s: assigned(s, PrivateIpAddresses=['10.0.0.60', '10.0.0.61']), ['10.0.0.60', '10.0.0.61']),
    yields('assign: an address it has already', ASSIGN, lambda s: (assigned(s, PrivateIpAddresses=['10.0.0.60']), assigned(s, PrivateIpAddresses=['10.0.0.60']), len(s.addresses()))[1:], (['10.0.0.60'], 2)),
    yields('assign: they are secondary', ASSIGN, lambda s: (s.assign(SecondaryPrivateIpAddressCount=1), [one['Primary'] for one in s.look()['PrivateIpAddresses']])[1], [True, False]),
    yields('assign: prefixes by count', PREFIXES, lambda s: len(assigned_prefixes(s, Ipv4PrefixCount=2)), 2),
    yields('assign: a certain prefix', PREFIXES, lambda s: assigned_prefixes(s, Ipv4Prefixes=['10.0.0.96/28']), ['10.0.0.96/28']),
    yields('assign: another’s address moves where it may', ASSIGN, lambda s: moved(s, True), (True, False)),
    yields('assign: and its public address with it', ASSIGN, public_moves_along, ['10.0.0.77']),
    yields('assign: what was freed comes again at once', ASSIGN, reused, True),
    refused('assign: another’s address', ASSIGN, lambda s: moved(s, False), 'InvalidParameterValue', r'\[10\.0\.0\.77\] assigned, but move is not allowed'),
    refused('assign: another’s primary address', ASSIGN, lambda s: s.assign(PrivateIpAddresses=s.addresses(s.new_eni()), AllowReassignment=True), 'InvalidParameterValue'),
    refused('assign: an address inside another’s prefix', PREFIXES, inside_a_prefix, 'InvalidIPAddress.InUse', 'in use'),
    refused('assign: nothing', ASSIGN, lambda s: s.assign(), 'InvalidParameter', 'must be specified'),
    refused('assign: two ways at once', ASSIGN, lambda s: s.assign(SecondaryPrivateIpAddressCount=1, Ipv4PrefixCount=1), 'InvalidParameterCombination', 'one and only one'),
    refused('assign: none', ASSIGN, lambda s: s.assign(SecondaryPrivateIpAddressCount=0), 'InvalidParameterValue', 'must be a positive number'),
    refused('assign: less than none', PREFIXES, lambda s: s.assign(Ipv4PrefixCount=-1), 'InvalidParameterValue', 'must be a positive number'),
    refused('assign: an address of another subnet', ERRORS, lambda s: s.assign(PrivateIpAddresses=['10.0.1.9']), 'InvalidParameterValue', 'does not fall within'),
    refused('assign: one of the cloud’s addresses', SUBNET_SIZE, lambda s: s.assign(PrivateIpAddresses=['10.0.0.1']), 'InvalidParameterValue', 'reserved'),
    refused('assign: no address', ASSIGN, lambda s: s.assign(PrivateIpAddresses=['10.0.0.x']), 'InvalidParameterValue'),
    refused('assign: to an unknown interface', ERRORS, lambda s: s.assign(UNKNOWN_ENI, SecondaryPrivateIpAddressCount=1), 'InvalidNetworkInterfaceID.NotFound', 'does not exist'),
    refused('assign: to a malformed interface', ERRORS, lambda s: s.assign('eni-x', SecondaryPrivateIpAddressCount=1), 'InvalidNetworkInterfaceId.Malformed'),
    refused('assign: a full subnet', ERRORS, lambda s: (s.fill(s.tiny_subnet, 1), s.assign(s.new_eni(s.tiny_subnet), SecondaryPrivateIpAddressCount=1)), 'InsufficientFreeAddressesInSubnet', 'does not have enough free addresses'),
    refused('assign: one more than the subnet has', ERRORS, lambda s: s.assign(s.new_eni(s.tiny_subnet), SecondaryPrivateIpAddressCount=11), 'InsufficientFreeAddressesInSubnet'),
    yields('assign: just as many as the subnet has', SUBNET_SIZE, lambda s: (s.assign(s.new_eni(s.tiny_subnet), SecondaryPrivateIpAddressCount=10), s.available(s.tiny_subnet))[1], 0),
    # Prefixes and what is left of the subnet
    yields('prefix: costs sixteen and gives them back', PREFIXES, prefix_round, (32, 0, [])),
    refused('prefix: no whole block though addresses are free', PREFIXES, lambda s: (s.splinter(s.subnet), s.assign(Ipv4PrefixCount=1)), 'InsufficientCidrBlocks', 'does not have enough free cidr blocks'),
    refused('prefix: fewer addresses than prefixes need', PREFIXES, lambda s: s.assign(s.new_eni(s.tiny_subnet), Ipv4PrefixCount=1), 'InvalidParameterValue', "There aren't sufficient free Ipv4 addresses or prefixes"),
    refused('prefix: one that is in use', PREFIXES, lambda s: (s.new_eni(Ipv4Prefixes=[{'Ipv4Prefix': '10.0.0.64/28'}]), s.assign(Ipv4Prefixes=['10.0.0.64/28'])), 'InvalidParameterValue', 'in use'),
    refused('prefix: one with an address in use', PREFIXES, lambda s: (s.new_eni(PrivateIpAddress='10.0.0.70'), s.assign(Ipv4Prefixes=['10.0.0.64/28'])), 'InvalidParameterValue', 'in use'),
    refused('prefix: the first block of the subnet', SUBNET_SIZE, lambda s: s.assign(Ipv4Prefixes=['10.0.0.0/28']), 'InvalidParameterValue', 'reserved'),
    refused('prefix: one that is not aligned', PREFIXES, lambda s: s.assign(Ipv4Prefixes=['10.0.0.72/28']), 'InvalidParameterValue', 'not a valid prefix'),
    refused('prefix: on a type that is not built on Nitro', PREFIXES, lambda s: s.assign(xen(s), Ipv4PrefixCount=1), 'UnsupportedOperation', 'm4.large'),
    # How much fits
    yields('limit: m5.large carries ten', INTERFACES, lambda s: filled(s, 'm5.large', 9), 10),
    yields('limit: t3.nano carries two', INTERFACES, lambda s: filled(s, 't3.nano', 1), 2),
    yields('limit: c8i.8xlarge carries fifty', INTERFACES, lambda s: filled(s, 'c8i.8xlarge', 49), 50),
    refused('limit: m5.large, the eleventh', INTERFACES, lambda s: capacity(s, 'm5.large', 9), 'PrivateIpAddressLimitExceeded', 'Number of private addresses will exceed limit'),
    refused('limit: m5.4xlarge, the thirty-first', INTERFACES, lambda s: capacity(s, 'm5.4xlarge', 29), 'PrivateIpAddressLimitExceeded'),
    refused('limit: t2.micro, the third', INTERFACES, lambda s: capacity(s, 't2.micro', 1), 'PrivateIpAddressLimitExceeded'),
    refused('limit: m6g.large, the eleventh', INTERFACES, lambda s: capacity(s, 'm6g.large', 9), 'PrivateIpAddressLimitExceeded'),
    yields('limit: a prefix fills one place', PREFIXES, lambda s: mixed(s, 4, 5), (5, 5)),
    refused('limit: prefixes and addresses together', PREFIXES, lambda s: mixed(s, 5, 5), 'PrivateIpAddressLimitExceeded'),
    refused('limit: the limit comes before the subnet', ERRORS, lambda s: s.assign(s.primary_of(s.launch('t3.nano', s.tiny_subnet))['NetworkInterfaceId'], SecondaryPrivateIpAddressCount=20), 'PrivateIpAddressLimitExceeded'),
    # Unassigning
    yields('unassign: what it names', UNASSIGN, unassigned, True),
    yields('unassign: all of it or nothing', UNASSIGN, all_or_none, 2),
    refused('unassign: what is not there', UNASSIGN, lambda s: s.unassign(PrivateIpAddresses=['10.0.0.250']), 'InvalidParameterValue', 'Some of the specified addresses are not assigned to interface eni-'),
    refused('unassign: twice', UNASSIGN, lambda s: (s.assign(PrivateIpAddresses=['10.0.0.60']), s.unassign(PrivateIpAddresses=['10.0.0.60']), s.unassign(PrivateIpAddresses=['10.0.0.60'])), 'InvalidParameterValue', 'not assigned'),
    refused('unassign: the primary address', UNASSIGN, lambda s: s.unassign(PrivateIpAddresses=s.addresses()), 'InvalidParameterValue', 'primary IP address of an interface cannot be unassigned'),
    refused('unassign: nothing', UNASSIGN, lambda s: s.unassign(), 'MissingParameter'),
    refused('unassign: a prefix that is not there', UNASSIGN, lambda s: s.unassign(Ipv4Prefixes=['10.0.0.64/28']), 'InvalidParameterValue', 'not assigned'),
    refused('unassign: an address out of a prefix', PREFIXES, lambda s: (s.assign(Ipv4Prefixes=['10.0.0.64/28']), s.unassign(PrivateIpAddresses=['10.0.0.70'])), 'InvalidParameterValue', 'not assigned'),
    refused('unassign: from an unknown interface', ERRORS, lambda s: s.unassign(UNKNOWN_ENI, PrivateIpAddresses=['10.0.0.60']), 'InvalidNetworkInterfaceID.NotFound'),
    # Reservations
    yields('reservation: leaves the count of available addresses', RESERVATIONS, lambda s: (s.available(), reserve(s, '10.0.0.64/26', 'prefix'), s.available())[::2], (251, 187)),
    yields('reservation: prefixes come from it', RESERVATIONS, lambda s: (reserve(s, '10.0.0.64/28', 'prefix'), assigned_prefixes(s, Ipv4PrefixCount=1))[1], ['10.0.0.64/28']),
    yields('reservation: explicit addresses come from it by name', RESERVATIONS, lambda s: (reserve(s, '10.0.0.64/26', 'explicit'), assigned(s, PrivateIpAddresses=['10.0.0.66']))[1], ['10.0.0.66']),
    refused('reservation: none is handed out otherwise', RESERVATIONS, lambda s: (reserve(s, '10.0.0.128/25', 'explicit'), reserve(s, '10.0.0.0/25', 'explicit'), s.new_eni(s.subnet)), 'InsufficientFreeAddressesInSubnet'),
    refused('reservation: a single address of one for prefixes', RESERVATIONS, lambda s: (reserve(s, '10.0.0.64/26', 'prefix'), s.assign(PrivateIpAddresses=['10.0.0.66'])), 'InvalidParameterValue', 'reserved'),
    # IPv6
    yields('IPv6: a prefix of /80', ASSIGN6, lambda s: ipv6(s, Ipv6PrefixCount=1)[1]['AssignedIpv6Prefixes'], lambda all: len(all) == 1 and all[0].startswith('2001:db8:1:3:') and all[0].endswith('/80')),
    yields('IPv6: addresses by count', ASSIGN6, lambda s: len(ipv6(s, Ipv6AddressCount=2)[1]['AssignedIpv6Addresses']), 2),
    yields('IPv6: a certain prefix', ASSIGN6, lambda s: ipv6(s, Ipv6Prefixes=['2001:db8:1:3:5::/80'])[1]['AssignedIpv6Prefixes'], ['2001:db8:1:3:5::/80']),
    yields('IPv6: a prefix goes again', UNASSIGN6, ipv6_round, True),
    refused('IPv6: a prefix of /64', ASSIGN6, lambda s: ipv6(s, Ipv6Prefixes=['2001:db8:1:3::/64']), 'InvalidParameterValue'),
    refused('IPv6: in a subnet without', ASSIGN6, lambda s: s.ec2.assign_ipv6_addresses(NetworkInterfaceId=s.eni, Ipv6PrefixCount=1), 'InvalidParameterValue', 'IPv6'),
    refused('IPv6: what is not there', UNASSIGN6, lambda s: s.ec2.unassign_ipv6_addresses(NetworkInterfaceId=s.new_eni(s.dual_subnet), Ipv6Prefixes=['2001:db8:1:3:5::/80']), 'InvalidParameterValue', 'not assigned'),
]
