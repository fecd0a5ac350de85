"""The form of a row: what is done, on which cloud, and what has to come of it, with the page that says so.

The tables hold one row a line, however long the line is.
"""

import dataclasses
import typing

API = 'https://api.aliyun.com/document'
ERRORS = f'{API}/Ecs/2014-05-26/errorCode'
SIGNING = 'https://help.aliyun.com/document_detail/311797.html'
OLDER_SIGNING = 'https://help.aliyun.com/document_detail/25492.html'
IDEMPOTENCY = 'https://help.aliyun.com/document_detail/25693.html'
STATES = 'https://help.aliyun.com/document_detail/58496.html'
RESERVED = 'https://help.aliyun.com/document_detail/65387.html'
TAGS = 'https://help.aliyun.com/document_detail/110424.html'
THROTTLING = 'https://help.aliyun.com/document_detail/25488.html'
METADATA = 'https://help.aliyun.com/document_detail/108460.html'
RAM = 'https://help.aliyun.com/document_detail/25497.html'


def page(action):
    """The page of the API reference about an action."""
    product = 'Vpc/2016-04-28' if action in ('DescribeVpcs', 'DescribeVSwitches') else 'Ecs/2014-05-26'
    return f'{API}/{product}/{action}'


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    source: str
    act: typing.Callable
    #: Code, status and pattern of the message of the refusal that is expected.
    refusal: tuple | None = None
    #: What the act returns, or a predicate of it.
    result: typing.Any = None
    cloud: str = 'instant'
    #: The lines of clients that it is run with.
    lines: tuple = ('newer', 'older')


def refused(name, source, act, code, status=400, message='', **more):
    return Row(name, source, act, refusal=(code, status, message), **more)


def yields(name, source, act, result, **more):
    return Row(name, source, act, result=result, **more)
