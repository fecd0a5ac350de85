"""What one row acts in: an instance and a vSwitch that no other row uses, through one line of clients."""

import functools
import itertools
import uuid

#: Instances and vSwitches that rows have taken, of each cloud.
_taken = {}


class Scene:
    def __init__(self, cloud, line):
        self.cloud = cloud
        self.line = line
        self.call = cloud.lines[line].call

    def as_other(self, **who):
        """The same client with other keys."""
        return type(self.cloud.lines[self.line])(self.cloud, **who).call

    def next(self, kind):
        counters = _taken.setdefault(self.cloud.url, {})
        return next(counters.setdefault(kind, itertools.count()))

    @functools.cached_property
    def instance(self):
        """An ecs.g7.large: three interfaces with six addresses each."""
        found = self.call('DescribeInstances', InstanceName=f'row-{self.next("instance") + 1}')
        return found['Instances']['Instance'][0]['InstanceId']

    @functools.cached_property
    def tiny(self):
        """A vSwitch of twelve addresses."""
        return f'vsw-tiny{self.next("tiny")}'

    @functools.cached_property
    def token(self):
        return str(uuid.uuid4())

    def create(self, **more):
        """The answer to the creation of an interface."""
        groups = {} if 'SecurityGroupIds' in more or 'SecurityGroupId' in more else {'SecurityGroupId': 'sg-pods'}
        return self.call('CreateNetworkInterface', **{'VSwitchId': 'vsw-nodes', **groups, **more})

    def new_eni(self, **more):
        return self.create(**more)['NetworkInterfaceId']

    @functools.cached_property
    def eni(self):
        """An interface that is attached to nothing."""
        return self.new_eni()

    def attach(self, eni=None, instance=None, **more):
        self.call('AttachNetworkInterface', NetworkInterfaceId=eni or self.eni, InstanceId=instance or self.instance, **more)
        return eni or self.eni

    def detach(self, eni=None, instance=None):
        return self.call('DetachNetworkInterface', NetworkInterfaceId=eni or self.eni, InstanceId=instance or self.instance)

    def delete(self, eni=None):
        return self.call('DeleteNetworkInterface', NetworkInterfaceId=eni or self.eni)

    def assign(self, count=None, eni=None, **more):
        counted = {} if count is None else {'SecondaryPrivateIpAddressCount': count}
        answer = self.call('AssignPrivateIpAddresses', NetworkInterfaceId=eni or self.eni, **counted, **more)
        return answer['AssignedPrivateIpAddressesSet']['PrivateIpSet']['PrivateIpAddress']

    def unassign(self, *addresses, eni=None):
        return self.call('UnassignPrivateIpAddresses', NetworkInterfaceId=eni or self.eni, PrivateIpAddress=list(addresses))

    def modify(self, eni=None, **what):
        return self.call('ModifyNetworkInterfaceAttribute', NetworkInterfaceId=eni or self.eni, **what)

    def enis(self, **filters):
        return self.call('DescribeNetworkInterfaces', **filters)['NetworkInterfaceSets']['NetworkInterfaceSet']

    def ids(self, **filters):
        return [one['NetworkInterfaceId'] for one in self.enis(**filters)]

    def look(self, eni=None):
        found = self.enis(NetworkInterfaceId=[eni or self.eni])
        return found[0] if found else None

    def status(self, eni=None):
        found = self.look(eni)
        return found and found['Status']

    def addresses(self, eni=None):
        return [one['PrivateIpAddress'] for one in self.look(eni)['PrivateIpSets']['PrivateIpSet']]

    def primary(self, instance=None):
        return self.enis(InstanceId=instance or self.instance, Type='Primary')[0]['NetworkInterfaceId']

    def available(self, vswitch):
        found = self.call('DescribeVSwitches', VSwitchId=vswitch)['VSwitches']['VSwitch']
        return found[0]['AvailableIpAddressCount']

    def fault(self, action, kind, **more):
        self.cloud.fault(action=action, fault={'kind': kind, **more})
