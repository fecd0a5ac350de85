"""The model from outside: the vendor's clients of both lines, raw requests, and the endpoint beside it.

Every raw answer that a client receives is held against the models of the newer clients, and what does not fit is kept in
`Cloud.misfits`.
"""

import datetime
import importlib
import json
import re
import time
import urllib.parse
import urllib.request

from alibabacloud_ecs20140526 import models as ecs_models
from alibabacloud_ecs20140526.client import Client as EcsClient
from alibabacloud_tea_openapi.exceptions import AlibabaCloudException
from alibabacloud_tea_openapi.models import Config
from alibabacloud_vpc20160428 import models as vpc_models
from alibabacloud_vpc20160428.client import Client as VpcClient
from aliyunsdkcore.acs_exception.exceptions import ServerException
from aliyunsdkcore.auth.credentials import StsTokenCredential
from aliyunsdkcore.client import AcsClient

import answers

REGION = 'cn-hangzhou'
KEY, SECRET = 'LTAIrows00000001', 'rows-secret'

# Slow enough to stand still while a row runs.
STILL = 1e-9
# How long a row waits for any time of the cloud to pass, in real seconds.
MOMENT = 0.03

#: Actions of the API of VPCs; the others are those of ECS.
VPC_ACTIONS = {'DescribeVpcs', 'DescribeVSwitches'}
#: Actions without a region.
REGIONLESS = {'DescribeInstanceTypes'}


class Refused(Exception):
    """A refusal, whichever client met it."""

    def __init__(self, code, status, message):
        super().__init__(f'{code} {status} {message}')
        self.code, self.status, self.message = code, status, message


class Newer:
    """The clients of today: parameters in the query, ACS3-HMAC-SHA256."""

    def __init__(self, cloud, key=KEY, secret=SECRET, token=None, region=REGION):
        self.cloud = cloud
        watched = {}
        for name, kind in (('ecs', EcsClient), ('vpc', VpcClient)):
            config = Config(
                access_key_id=key,
                access_key_secret=secret,
                security_token=token,
                region_id=region,
                endpoint=urllib.parse.urlsplit(cloud.url).netloc,
                protocol='http',
                read_timeout=20_000,
                connect_timeout=20_000,
            )
            watched[name] = _watched(kind, cloud)(config)
        self.clients = watched

    def call(self, action, **given):
        product = 'vpc' if action in VPC_ACTIONS else 'ecs'
        module = vpc_models if product == 'vpc' else ecs_models
        whole = given if action in REGIONLESS else {'RegionId': REGION, **given}
        request = getattr(module, f'{action}Request')().from_map(whole)
        method = getattr(self.clients[product], _snake(action))
        try:
            return method(request).body.to_map()
        except AlibabaCloudException as error:
            body = {name: part for name, part in error.data.items() if name != 'statusCode'}
            self.cloud.misfits += answers.check_refusal(body)
            raise Refused(error.code, error.status_code, body.get('Message')) from error


class Older:
    """The clients of before: HMAC-SHA1 over all parameters."""

    def __init__(self, cloud, key=KEY, secret=SECRET, token=None, region=REGION):
        self.cloud = cloud
        credential = token and StsTokenCredential(key, secret, token)
        whole = {'credential': credential} if credential else {'ak': key, 'secret': secret}
        self.client = AcsClient(**whole, region_id=region, auto_retry=False, timeout=20)

    def call(self, action, **given):
        product, version = ('vpc', 'v20160428') if action in VPC_ACTIONS else ('ecs', 'v20140526')
        name = f'{action}Request'
        request = getattr(importlib.import_module(f'aliyunsdk{product}.request.{version}.{name}'), name)()
        request.set_endpoint(urllib.parse.urlsplit(self.cloud.url).netloc)
        request.set_protocol_type('http')
        for key, value in given.items():
            _set(request, key, value)
        try:
            body = json.loads(self.client.do_action_with_exception(request))
        except ServerException as error:
            raise Refused(error.get_error_code(), error.get_http_status(), error.get_error_msg()) from error
        self.cloud.saw(product, action, body)
        return body


def _set(request, key, value):
    """Lists have setters in a plural of their own."""
    many = getattr(request, f'set_{key}s', None)
    if isinstance(value, list) and many is not None:
        many(value)
    elif hasattr(request, f'set_{key}'):
        getattr(request, f'set_{key}')(value)
    else:
        request.add_query_param(key, value)


def _watched(kind, cloud):
    class Watched(kind):
        def call_api(self, params, request, runtime):
            answer = super().call_api(params, request, runtime)
            cloud.saw('vpc' if kind is VpcClient else 'ecs', params.action, answer['body'])
            return answer

    return Watched


def _snake(action):
    name = re.sub(r'(?<=[a-z])(?=[A-Z])', '_', action).lower()
    return name.replace('_vswitches', '_vswitches').replace('_v_switches', '_vswitches')


class Cloud:
    def __init__(self, url, metadata):
        self.url, self.metadata = url, metadata
        self.misfits, self.answers = [], 0
        self.garbled = False
        self.lines = {'newer': Newer(self), 'older': Older(self)}

    def saw(self, product, action, body):
        self.answers += 1
        if not self.garbled:
            module = vpc_models if product == 'vpc' else ecs_models
            self.misfits += answers.check_answer(module, action, body)

    def admin(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f'{self.url}/_headwater/{path}', data, method=method)
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.loads(response.read())

    def meta(self, path, method='GET', headers=None):
        request = urllib.request.Request(f'{self.metadata}/latest/{path}', headers=headers or {}, method=method)
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.read().decode()

    def settings(self, **change):
        return self.admin('PUT', 'settings', change)

    def fault(self, **rule):
        self.garbled = rule['fault']['kind'] == 'garbled'
        return self.admin('POST', 'faults', {'count': 1, **rule})['id']

    def stand_still(self):
        self.admin('PUT', 'time', {'pace': STILL})

    def advance(self, seconds):
        """Lets at least so much of the cloud's time pass, and not much more."""
        start = self._now()
        self.admin('PUT', 'time', {'pace': seconds / MOMENT})
        while (self._now() - start).total_seconds() < seconds:
            time.sleep(0.001)
        self.stand_still()
        time.sleep(0.01)

    def _now(self):
        return datetime.datetime.fromisoformat(self.admin('GET', 'time')['now'].replace('Z', '+00:00'))

    def calm(self):
        """Restores the behaviour of the cloud that a row has changed."""
        self.garbled = False
        self.admin('DELETE', 'faults')
        self.admin('PUT', 'allowed-actions', {'actions': None})
        self.settings(throttle=False, limitScale=1, latencyScale=0, listingLagMs=0, visibilityDelayMs=0, shortPages=0)
