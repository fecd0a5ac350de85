"""The model from outside: Microsoft's clients, raw requests, and the endpoint beside Azure.

Every raw answer that a client receives is held against the clients' own models, and what does not fit is kept in
`Cloud.misfits`.
"""

import datetime
import json
import time
import urllib.parse

import requests
from azure.core import MatchConditions
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.identity import ClientSecretCredential
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.network import NetworkManagementClient

import answers

TENANT = '00000000-0000-0000-0000-0000000000aa'
SUBSCRIPTION = '00000000-0000-0000-0000-000000000001'
OTHER_SUBSCRIPTION = '00000000-0000-0000-0000-000000000002'
SCOPE = 'https://management.azure.com/.default'
VERSION = '2024-07-01'

#: Client ids and secrets, as the topology of the rows has them.
PRINCIPALS = {
    'owner': ('00000000-0000-0000-0000-0000000000c1', 'owner-secret'),
    'reader': ('00000000-0000-0000-0000-0000000000c2', 'reader-secret'),
    'elsewhere': ('00000000-0000-0000-0000-0000000000c3', 'elsewhere-secret'),
    'joinless': ('00000000-0000-0000-0000-0000000000c4', 'joinless-secret'),
    'imageless': ('00000000-0000-0000-0000-0000000000c5', 'imageless-secret'),
}

# Slow enough to stand still while a row runs.
STILL = 1e-9
# How long a row waits for any time of the cloud to pass, in real seconds.
MOMENT = 0.03


class Watch(SansIOHTTPPolicy):
    """Shows every answer to the cloud."""

    def __init__(self, cloud):
        self.cloud = cloud

    def on_response(self, request, response):
        self.cloud.saw(request.http_request.method, request.http_request.url, response.http_response)


class Cloud:
    def __init__(self, url, metadata, ca):
        self.url, self.metadata, self.ca = url, metadata, ca
        self.misfits, self.answers = [], 0
        #: The last answer, and the last one to a change: pollers go on asking by themselves.
        self.last = self.last_change = None
        self.garbled = False
        self.session = requests.Session()
        self.session.verify = ca
        # An authority of the environment would be asked instead.
        self.session.trust_env = False
        self.credentials = {name: self.credential(*given) for name, given in PRINCIPALS.items()}
        self.network = self.client(NetworkManagementClient)
        self.compute = self.client(ComputeManagementClient)

    def credential(self, client, secret, tenant=TENANT):
        return ClientSecretCredential(tenant, client, secret, authority=self.url, disable_instance_discovery=True, connection_verify=self.ca)

    def client(self, kind, who='owner', subscription=SUBSCRIPTION, **more):
        options = {'retry_total': 0, 'polling_interval': 0.01, 'connection_verify': self.ca, 'read_timeout': 20, **more}
        return kind(
            self.credentials[who],
            subscription,
            base_url=self.url,
            credential_scopes=[SCOPE],
            per_call_policies=[Watch(self)],
            **options,
        )

    def compute_as(self, who, **more):
        return self.client(ComputeManagementClient, who, **more)

    def network_as(self, who, **more):
        return self.client(NetworkManagementClient, who, **more)

    def saw(self, method, url, response):
        self.answers += 1
        self.last = response
        if method != 'GET':
            self.last_change = response
        if self.garbled:
            return
        response.read()
        text = response.text()
        body = json.loads(text) if text else None
        path = urllib.parse.urlsplit(url).path
        self.misfits += [f'{method} {path}: {one}' for one in answers.check(method, path, response.status_code, body)]

    def token(self, who='owner', scope=SCOPE):
        return self.credentials[who].get_token(scope).token

    def raw(self, method, path, token=None, headers=None, version=VERSION, body=None):
        """Sends a request that no client would; returns the answer of `requests`."""
        sent = {'Authorization': f'Bearer {token or self.token()}', 'Content-Type': 'application/json', **(headers or {})}
        sent = {name: value for name, value in sent.items() if value is not None}
        query = '' if version is None else f'{"&" if "?" in path else "?"}api-version={version}'
        data = body if isinstance(body, (str, type(None))) else json.dumps(body)
        answer = self.session.request(method, self.url + path + query, headers=sent, data=data, timeout=20)
        self.misfits += [] if answer.ok else answers.check(method, path, answer.status_code, answer.json())
        return answer

    def admin(self, method, path, body=None):
        answer = self.session.request(method, f'{self.url}/_headwater/{path}', json=body, timeout=20)
        answer.raise_for_status()
        return answer.json()

    def settings(self, **change):
        return self.admin('PUT', 'settings', change)

    def fault(self, **rule):
        self.garbled = rule['fault']['kind'] == 'garbled'
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
        self.garbled = False
        self.admin('DELETE', 'faults')
        self.admin('PUT', 'allowed-actions', {'actions': None})
        settings = {'throttle': False, 'latencyScale': 0, 'listingLagMs': 0, 'pageSize': 1000, 'respelled': 0}
        self.settings(**settings, headers='both', retryAfter=0, fullSubnet='atOnce')


IF_SAME = MatchConditions.IfNotModified
