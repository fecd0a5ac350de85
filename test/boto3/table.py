"""The form of a row: what is done, on which cloud, and what has to come of it, with the page that says so.

The tables hold one row a line, however long the line is.
"""

import dataclasses
import typing

API = 'https://docs.aws.amazon.com/AWSEC2/latest/APIReference'
ERRORS = f'{API}/errors-overview.html'
THROTTLING = 'https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html'
IDEMPOTENCY = 'https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html'
CONSISTENCY = 'https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html'
PREFIXES = 'https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-prefix-eni.html'
INTERFACES = 'https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-eni.html'
SUBNET_SIZE = 'https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html'
RESERVATIONS = 'https://docs.aws.amazon.com/vpc/latest/userguide/subnet-cidr-reservation.html'
FILTERS = 'https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html'
SIGNING = 'https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html'
LIMITS = 'https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html'
TAGS = 'https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html'


def page(action):
    """The page of the API reference about an action."""
    return f'{API}/API_{action}.html'


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


def refused(name, source, act, code, message='', status=400, cloud='instant'):
    return Row(name, source, act, refusal=(code, status, message), cloud=cloud)


def yields(name, source, act, result, cloud='instant'):
    return Row(name, source, act, result=result, cloud=cloud)
