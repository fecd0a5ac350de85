"""Changes that are refused, and that nothing has changed then."""

from azure.core.exceptions import HttpResponseError
from azure.mgmt.compute import models as compute

from scene import GROUP, SUBNETS, configurations_of
from table import ADDRESSES, ERRORS, ETAGS, NIC, OPERATIONS, SET, VM, refused, yields

NETWORK = f'{GROUP}/providers/Microsoft.Network'


def stale(s):
    etag = s.vm().etag
    s.add()
    return s.put(s.with_more(s.vm(), name='again-'), etag=etag)


def same(s):
    vm = s.vm()
    return s.put(s.with_more(vm), etag=vm.etag).result().properties.provisioning_state


def any_etag(s):
    s.add()
    headers = {'If-Match': '*'}
    return s.put(s.vm(), headers=headers).result().properties.provisioning_state


def stale_own(s):
    model = s.own()
    s.add_own().result()
    return s.put_own(model, etag=model.etag)


def with_configurations(s, change, set='rows', id=None):
    vm = s.vm(set, id)
    change(configurations_of(vm))
    return s.put(vm, set, id)


def in_other_subnet(list):
    list.append(compute.VirtualMachineScaleSetIPConfiguration(name='other'))
    list[-1].properties = compute.VirtualMachineScaleSetIPConfigurationProperties(subnet=compute.ApiEntityReference(id=f'{SUBNETS}/pods'))


def in_no_subnet(list):
    in_other_subnet(list)
    list[-1].properties.subnet = None


def in_unknown_subnet(list):
    in_other_subnet(list)
    list[-1].properties.subnet.id = f'{SUBNETS}/none'


def twice(list):
    in_other_subnet(list)
    list[-1].name, list[-1].properties.subnet = list[0].name, list[0].properties.subnet


def without_primary(list):
    in_other_subnet(list)
    list[-1].properties.subnet, list[0].properties.primary = list[0].properties.subnet, False


def two_primaries(list):
    in_other_subnet(list)
    list[-1].properties.subnet, list[-1].properties.primary = list[0].properties.subnet, True


def other_primary(list):
    list[0].name = 'renamed'


def badly_named(list):
    in_other_subnet(list)
    list[-1].name, list[-1].properties.subnet = '-bad', list[0].properties.subnet


def in_other_group(list):
    in_other_subnet(list)
    groups = [compute.SubResource(id=f'{NETWORK}/applicationSecurityGroups/pods')]
    list[-1].properties.subnet, list[-1].properties.application_security_groups = list[0].properties.subnet, groups


def none_taken(s):
    before = s.held(s.tiny)
    try:
        s.add(11, s.tiny, '0')
    except HttpResponseError:
        return s.held(s.tiny) - before, s.states(s.tiny, '0')


def as_many_as_are_left(s):
    s.add(10, s.tiny, '0')
    return len(s.addresses(s.tiny, '0'))


def freed_again(s):
    s.add(10, s.tiny, '0')
    with_configurations(s, lambda list: list.__delitem__(slice(4, None)), s.tiny, '0').result()
    return len(set(s.addresses(s.tiny, '0'))), s.held(s.tiny)


def other_image(s):
    vm = s.vm()
    vm.properties.storage_profile.image_reference.sku = 'other'
    return s.put(vm)


def no_image(s):
    vm = s.vm('gallery', '1')
    vm.properties.storage_profile.image_reference = None
    s.put(s.with_more(vm), 'gallery', '1', client=s.cloud.compute_as('imageless')).result()
    return s.vm('gallery', '1').properties.storage_profile.image_reference.id.rsplit('/', 1)[1]


def without_interface(s):
    id = str(s.next('wide'))
    vm = s.vm('wide', id)
    vm.properties.network_profile_configuration.network_interface_configurations.pop()
    return s.put(vm, 'wide', id)


def own_in_other_subnet(s):
    return s.add_own(subnet='pods')


def own_full(s):
    subnet = s.tiny
    many = [s.configuration(f'c{number}', subnet, primary=number == 0) for number in range(12)]
    return s.new_nic(*many)


def given(s, address, count=1):
    made = None
    for _ in range(count):
        static = {'private_ip_address': address, 'private_ip_allocation_method': 'Static', 'primary': True}
        made = s.new_nic(s.configuration('one', 'given', **static)).result()
    return made.ip_configurations[0].private_ip_address


def not_new(s):
    model = s.own()
    model.location = 'northeurope'
    return s.put_own(model)


def scaled(s, capacity):
    return s.sets.begin_update('rows', s.growing, {'sku': {'capacity': capacity}})


def raw_put(s, body):
    return s.cloud.raw('PUT', s.nic_path, body=body)


ROWS = [
    refused('a change with an etag that is not the last one', VM, stale, 'PreconditionFailed', 412),
    yields('a change with the last etag', VM, same, 'Succeeded'),
    yields('a change with any etag', ETAGS, any_etag, 'Succeeded'),
    refused('a change of an interface with an etag that is not the last one', NIC, stale_own, 'PreconditionFailed', 412),
    refused('one address more than a subnet has', ERRORS, lambda s: s.add(11, s.tiny, '0'), 'SubnetIsFull', 400, 'does not have enough capacity for 11 IP addresses'),
    yields('what a full subnet gave', ERRORS, none_taken, (0, ['Succeeded'])),
    yields('as many addresses as a subnet has', ERRORS, as_many_as_are_left, 11),
    yields('addresses that were dropped', ADDRESSES, freed_again, (4, 4)),
    refused('more addresses of an interface than a subnet has', ERRORS, own_full, 'SubnetIsFull'),
    refused('a configuration in another subnet', ADDRESSES, lambda s: with_configurations(s, in_other_subnet), 'VMScaleSetIpConfigurationsOnSameNicCannotUseDifferentSubnets'),
    refused('a configuration of an interface in another subnet', ADDRESSES, own_in_other_subnet, 'IpConfigurationsOnSameNicCannotUseDifferentSubnets'),
    refused('a configuration in no subnet', ADDRESSES, lambda s: with_configurations(s, in_no_subnet), 'SubnetNotProvided'),
    refused('a configuration in an unknown subnet', ERRORS, lambda s: with_configurations(s, in_unknown_subnet), 'InvalidResourceReference'),
    refused('two configurations of one name', ADDRESSES, lambda s: with_configurations(s, twice), 'DuplicateResourceName'),
    refused('a name that begins with a dash', ERRORS, lambda s: with_configurations(s, badly_named), 'InvalidResourceName'),
    refused('no primary configuration', ADDRESSES, lambda s: with_configurations(s, without_primary), 'NoPrimaryIpConfigurationOnNic'),
    refused('two primary configurations', ADDRESSES, lambda s: with_configurations(s, two_primaries), 'MultiplePrimaryIpConfigurationsOnNic'),
    refused('another primary configuration', ADDRESSES, lambda s: with_configurations(s, other_primary), 'PrimaryIpConfigurationCannotBeRemoved'),
    refused('no configuration', ADDRESSES, lambda s: with_configurations(s, lambda list: list.clear()), 'NetworkInterfaceMustHaveAtLeastOneIpConfiguration'),
    refused('another security group for one configuration', ADDRESSES, lambda s: with_configurations(s, in_other_group), 'ApplicationSecurityGroupsNotConsistentOnNic', 409),
    refused('another image', VM, other_image, 'PropertyChangeNotAllowed', 409),
    yields('no image, by who may not read it', VM, no_image, '1.0.0'),
    refused('one interface less', VM, without_interface, 'OperationNotAllowed', 409),
    refused('an interface without a location', NIC, lambda s: raw_put(s, {'properties': {}}), 'LocationRequired'),
    refused('an interface in another location', NIC, not_new, 'InvalidResourceLocation', 409),
    refused('an interface without configurations', NIC, lambda s: raw_put(s, {'location': 'westeurope', 'properties': {}}), 'InvalidRequestFormat'),
    yields('a given address', ADDRESSES, lambda s: given(s, '10.3.0.10'), '10.3.0.10'),
    refused('a given address of another subnet', ADDRESSES, lambda s: given(s, '10.0.0.10'), 'PrivateIPAddressNotInSubnet'),
    refused('a given address that is reserved', ADDRESSES, lambda s: given(s, '10.3.0.3'), 'PrivateIPAddressInReservedRange'),
    refused('a given address that is taken', ADDRESSES, lambda s: given(s, '10.3.0.20', 2), 'PrivateIPAddressIsAllocated'),
    refused('to delete an interface of a machine', NIC, lambda s: s.nics.begin_delete('rows', s.nic), 'NicInUse'),
    refused('a scale set of minus one machines', SET, lambda s: scaled(s, -1), 'InvalidParameter'),
    refused('a change of a machine that is being changed', OPERATIONS, lambda s: (s.add(wait=False), s.add(name='b-')), 'OperationNotAllowed', 409, cloud='slow'),
    refused('a change of an interface that is being changed', OPERATIONS, lambda s: (s.add_own(), s.add_own()), 'AnotherOperationInProgress', 409, cloud='slow'),
    refused('to deallocate a machine that is being changed', OPERATIONS, lambda s: (s.add(wait=False), s.vms.begin_deallocate('rows', 'rows', s.id)), 'OperationNotAllowed', 409, cloud='slow'),
]
