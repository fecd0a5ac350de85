"""Holds raw answers against the models of Microsoft's own clients: every field known, every value of its type, every enum
known, and every refusal of the form that the clients read."""

import datetime
import enum
import re
import types
import typing

from azure.mgmt.compute import models as compute
from azure.mgmt.network import models as network

#: What a path answers with, the last part first.
SHAPES = [
    (r'/virtualMachineScaleSets/[^/]+/virtualMachines/[^/]+/instanceView$', compute, 'VirtualMachineScaleSetVMInstanceView'),
    (r'/virtualMachineScaleSets/[^/]+/virtualMachines(/[^/]+)?$', compute, 'VirtualMachineScaleSetVM'),
    (r'/virtualMachineScaleSets(/[^/]+)?$', compute, 'VirtualMachineScaleSet'),
    (r'/virtualMachines/[^/]+/instanceView$', compute, 'VirtualMachineInstanceView'),
    (r'/virtualMachines(/[^/]+)?$', compute, 'VirtualMachine'),
    (r'/networkInterfaces(/[^/]+)?$', network, 'NetworkInterface'),
    (r'/virtualNetworks(/[^/]+)?$', network, 'VirtualNetwork'),
    (r'/subnets(/[^/]+)?$', network, 'Subnet'),
]


#: Enums that Microsoft documents as incomplete.
OPEN = {'VirtualMachineSizeTypes'}


def check(method, path, status, body):
    """What is wrong with the answer, as a list of texts."""
    if status >= 400:
        return list(_refusal(body))
    if body is None or method == 'DELETE' or method == 'POST':
        return []
    for pattern, module, name in SHAPES:
        if re.search(pattern, path, re.IGNORECASE):
            model = getattr(module, name)
            if 'value' not in body:
                return list(_model(body, model, module, name))
            extra = [f'a page has {field}' for field in body if field not in ('value', 'nextLink')]
            return [*extra, *(wrong for item in body['value'] for wrong in _model(item, model, module, name))]
    return []


def _refusal(body):
    error = body.get('error') if isinstance(body, dict) else None
    if not isinstance(error, dict) or not all(isinstance(error.get(field), str) for field in ('code', 'message')):
        yield f'a refusal is not of the form error: code, message, but {body}'
    elif unknown := set(error) - {'code', 'message', 'details', 'target'}:
        yield f'an error has the fields {unknown}'


def _model(value, model, module, path):
    if not isinstance(value, dict):
        yield f'{path} is {value!r}'
        return
    known = {field._rest_name: name for name, field in model()._attr_to_rest_field.items()}
    hints = {name: hint for base in reversed(model.__mro__) for name, hint in base.__dict__.get('__annotations__', {}).items()}
    for name, part in value.items():
        if name not in known:
            yield f'{path}.{name} is unknown'
        else:
            yield from _value(part, hints[known[name]], module, f'{path}.{name}')


def _value(value, hint, module, path):
    if isinstance(hint, (str, typing.ForwardRef)):
        text = hint if isinstance(hint, str) else hint.__forward_arg__
        hint = getattr(module, text.split('.')[-1].rstrip("']"), str)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        yield from _union(value, [each for each in arguments if each is not type(None)], module, path)
    elif origin is list:
        if not isinstance(value, list):
            yield f'{path} is not a list: {value!r}'
            return
        for index, item in enumerate(value):
            yield from _value(item, arguments[0], module, f'{path}[{index}]')
    elif origin is dict or hint in (typing.Any, object):
        return
    elif isinstance(hint, type) and hasattr(hint, '_attr_to_rest_field'):
        yield from _model(value, hint, module, path)
    elif isinstance(hint, type) and issubclass(hint, enum.Enum):
        if hint.__name__ not in OPEN and value not in {each.value for each in hint}:
            yield f'{path} is {value!r}, none of {[each.value for each in hint]}'
    elif hint is datetime.datetime:
        datetime.datetime.fromisoformat(value.replace('Z', '+00:00'))
    elif hint in (str, int, bool, float) and type(value) is not hint:
        yield f'{path} is not {hint.__name__}: {value!r}'


def _union(value, hints, module, path):
    """An enum is written as `str` or the enum: the enum decides."""
    references = [each for each in hints if each is not str]
    yield from _value(value, (references or hints)[0], module, path)
