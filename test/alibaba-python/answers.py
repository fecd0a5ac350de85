"""Holds raw answers against the models of the vendor's clients: every field that an answer has must be one of them, with its type."""

import inspect
import typing


def check_refusal(body):
    """What is wrong with a refusal, as a list of texts."""
    if not isinstance(body, dict):
        return [f'a refusal is no object: {body!r}']
    fields = ('RequestId', 'HostId', 'Code', 'Message', 'Recommend')
    missing = [name for name in fields if not isinstance(body.get(name), str)]
    return [f'a refusal has no {name}' for name in missing] + [f'a refusal has {name}' for name in body if name not in fields]


def check_answer(module, action, body):
    """What is wrong with the answer to an action, as a list of texts."""
    return list(_model(body, getattr(module, f'{action}ResponseBody'), module, action))


def _model(value, model, module, path):
    if not isinstance(value, dict):
        yield f'{path} is {value!r}'
        return
    hints = _hints(model)
    names = {name.replace('_', '').lower(): name for name in hints}
    for name, part in value.items():
        known = names.get(name.lower())
        if known is None:
            yield f'{path}.{name} is unknown'
        else:
            yield from _value(part, hints[known], module, f'{path}.{name}')


def _hints(model):
    parameters = inspect.signature(model.__init__).parameters
    return {name: parameter.annotation for name, parameter in parameters.items() if name != 'self'}


def _value(value, hint, module, path):
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, str):
        hint = {'str': str, 'int': int, 'bool': bool, 'float': float}.get(hint) or _named(module, hint)
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is list:
        if not isinstance(value, list):
            yield f'{path} is not a list: {value!r}'
            return
        for index, item in enumerate(value):
            yield from _value(item, arguments[0], module, f'{path}[{index}]')
    elif isinstance(hint, typing.ForwardRef):
        yield from _value(value, hint.__forward_arg__, module, path)
    elif inspect.isclass(hint) and hasattr(hint, 'from_map'):
        yield from _model(value, hint, module, path)
    elif hint is float:
        if type(value) not in (int, float):
            yield f'{path} is no number: {value!r}'
    elif hint in (str, int, bool) and type(value) is not hint:
        yield f'{path} is not {hint.__name__}: {value!r}'


def _named(module, text):
    """`main_models.CreateNetworkInterfaceResponseBodyTags`, or a list of those."""
    inner = text.removeprefix('List[').removesuffix(']')
    plain = {'str': str, 'int': int, 'bool': bool, 'float': float}
    model = plain.get(inner) or getattr(module, inner.split('.')[-1])
    return typing.List[model] if text.startswith('List[') else model
