"""The model from outside: boto3 clients, raw signed requests, and the endpoint beside EC2.

Every raw answer that a client receives is held against botocore's own shapes, and what does not fit is kept in
`Cloud.misfits`.
"""

import datetime
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

import answers

REGION = 'us-east-1'
KEY = 'AKIABOTO3ROWS0000001'
SECRET = 'boto3-rows-secret'

# Slow enough to stand still while a row runs.
STILL = 1e-9
# How long a row waits for any time of the cloud to pass, in real seconds.
MOMENT = 0.03


class Cloud:
    def __init__(self, url):
        self.url = url
        self.misfits = []
        self.answers = 0
        self.ec2 = self.client()

    def client(self, key=KEY, secret=SECRET, region=REGION, timeout=20):
        config = Config(retries={'total_max_attempts': 1}, read_timeout=timeout, parameter_validation=False)
        client = boto3.client(
            'ec2',
            endpoint_url=self.url,
            region_name=region,
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            config=config,
        )
        client.meta.events.register('before-parse.ec2', self._check)
        return client

    def _check(self, operation_model, response_dict, **_):
        if response_dict['status_code'] >= 300:
            found = answers.check_refusal(response_dict['body'])
        elif response_dict['body']:
            found = answers.check_answer(operation_model, response_dict['body'])
        else:
            found = []
        self.answers += 1
        self.misfits += [f'{operation_model.name}: {one}' for one in found]

    def raw(self, parameters, method='POST', sign=True, skew=0, key=KEY, headers=None):
        """Sends a request that no client would; returns status, code, message and text of the answer."""
        body = urllib.parse.urlencode(parameters, quote_via=urllib.parse.quote)
        url, data = (f'{self.url}/?{body}', '') if method == 'GET' else (f'{self.url}/', body)
        sent = {'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8', **(headers or {})}
        request = AWSRequest(method=method, url=url, data=data, headers=sent)
        if sign:
            moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=skew)
            stamp = moment.strftime('%Y%m%dT%H%M%SZ')
            request.headers['Host'] = urllib.parse.urlsplit(self.url).netloc
            request.headers['X-Amz-Date'] = stamp
            request.context['timestamp'] = stamp
            signer = SigV4Auth(Credentials(key, SECRET), 'ec2', REGION)
            text = signer.string_to_sign(request, signer.canonical_request(request))
            signer._inject_signature_to_request(request, signer.signature(text, request))
        return self._send(url, method, data, dict(request.headers))

    def _send(self, url, method, data, headers):
        request = urllib.request.Request(url, data.encode() or None, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                return response.status, '', '', response.read().decode()
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            self.misfits += answers.check_refusal(text)
            root = ElementTree.fromstring(text)
            code, message = root.findtext('.//Code'), root.findtext('.//Message')
            return error.code, code, message, text

    def admin(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f'{self.url}/_headwater/{path}', data, method=method)
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.load(response)

    def fault(self, **rule):
        return self.admin('POST', 'faults', rule)['id']

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
        self.admin('DELETE', 'faults')
        self.admin('PUT', 'allowed-actions', {'actions': None})
        settings = {'throttle': False, 'latencyScale': 0, 'refuseUnpaginated': False}
        self.admin('PUT', 'settings', {**settings, 'visibilityDelayMs': 0, 'listingLagMs': 0})
