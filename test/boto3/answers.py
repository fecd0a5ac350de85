"""Holds raw answers against botocore's model of EC2: every element known, every value of its type, every enum known."""

import datetime
import re
import xml.etree.ElementTree as ElementTree

NAMESPACE = '{http://ec2.amazonaws.com/doc/2016-11-15/}'

# What EC2 sends although its model does not list it: see the example response of CreateNetworkInterface
# (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateNetworkInterface.html).
UNLISTED = {'NetworkInterfaceStatus': {'pending'}}


def check_answer(operation_model, body):
    """What is wrong with the answer of an operation, as a list of texts."""
    root = ElementTree.fromstring(body)
    expected = f'{NAMESPACE}{operation_model.name}Response'
    if root.tag != expected:
        return [f'the root is {root.tag}, not {expected}']
    if root.find(f'{NAMESPACE}requestId') is None:
        return ['there is no requestId']
    children = [child for child in root if _name(child) != 'requestId']
    shape = operation_model.output_shape
    if shape is None:
        return [f'{_name(child)} in the answer of an action without output' for child in children]
    return list(_structure(children, shape, ''))


def check_refusal(body):
    root = ElementTree.fromstring(body)
    errors = root.findall('Errors/Error')
    if root.tag != 'Response' or len(errors) != 1 or root.find('RequestID') is None:
        return ['a refusal is not of the form Response/Errors/Error and Response/RequestID']
    names = [child.tag for child in errors[0]]
    return [] if names == ['Code', 'Message'] else [f'an error has the elements {names}']


def check_declared(model, declared):
    """What differs between the shapes that the simulator declares and botocore's, names on the wire and types."""
    for name, shapes in declared.items():
        operation = model.operation_model(name)
        yield from _compare(f'{name} input', shapes['input'], operation.input_shape, False)
        if operation.output_shape is not None:
            yield from _compare(f'{name} output', shapes['output'], operation.output_shape, True)
        elif shapes['output']['fields']:
            yield f'{name} has an output that botocore does not know'


KINDS = {
    'text': {'string'},
    'integer': {'integer', 'long'},
    'flag': {'boolean'},
    'time': {'timestamp'},
    'list': {'list'},
    'record': {'structure'},
}


def _compare(path, ours, theirs, is_output):
    if theirs.type_name not in KINDS[ours['kind']]:
        yield f'{path} is {ours["kind"]}, botocore has {theirs.type_name}'
        return
    if ours['kind'] == 'list':
        yield from _compare(f'{path}[]', ours['item'], theirs.member, is_output)
    for member, field in ours.get('fields', {}).items():
        known = theirs.members.get(member)
        if known is None:
            yield f'{path}.{member} is unknown to botocore'
            continue
        wire = field.get('wire') or (_lower(member) if is_output else member)
        right = _output_name(member, known) if is_output else _input_name(member, known)
        if wire != right:
            yield f'{path}.{member} is {wire} on the wire, botocore has {right}'
        yield from _compare(f'{path}.{member}', field, known, is_output)


def _output_name(member, shape):
    return shape.serialization.get('name', member)


def _input_name(member, shape):
    name = shape.serialization.get('queryName') or shape.serialization.get('name', member)
    return name[0].upper() + name[1:]


def _lower(name):
    return name[0].lower() + name[1:]


def _name(element):
    return element.tag.removeprefix(NAMESPACE)


def _structure(children, shape, path):
    members = {_output_name(member, known): known for member, known in shape.members.items()}
    seen = set()
    for child in children:
        name = _name(child)
        if name not in members:
            yield f'{path}/{name} is unknown to {shape.name}'
        elif name in seen:
            yield f'{path}/{name} comes twice'
        else:
            yield from _value(child, members[name], f'{path}/{name}')
        seen.add(name)


def _value(element, shape, path):
    if shape.type_name == 'structure':
        yield from _structure(element, shape, path)
    elif shape.type_name == 'list':
        for item in element:
            if _name(item) != shape.member.serialization.get('name', 'item'):
                yield f'{path}/{_name(item)} is no item'
            else:
                yield from _value(item, shape.member, f'{path}/item')
    else:
        yield from _scalar(element.text or '', shape, path)


def _scalar(text, shape, path):
    patterns = {'integer': r'-?\d+', 'long': r'-?\d+', 'boolean': 'true|false', 'double': r'-?\d+(\.\d+)?'}
    if shape.type_name in patterns and not re.fullmatch(patterns[shape.type_name], text):
        yield f'{path} is {text!r}, not of type {shape.type_name}'
    if shape.type_name == 'timestamp':
        try:
            datetime.datetime.strptime(text, '%Y-%m-%dT%H:%M:%S.%fZ')
        except ValueError:
            yield f'{path} is {text!r}, not a time'
    known = {*getattr(shape, 'enum', ()), *UNLISTED.get(shape.name, ())}
    if shape.type_name == 'string' and shape.enum and text not in known:
        yield f'{path} is {text!r}, not one of {shape.name}'
