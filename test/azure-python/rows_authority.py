"""Who may ask: tokens of the authority, of identities, and what Resource Manager makes of them; instance metadata."""

import os

import requests
from azure.core.exceptions import ClientAuthenticationError
from azure.identity import ClientAssertionCredential, ManagedIdentityCredential

from cloud import PRINCIPALS, SCOPE, SUBSCRIPTION, TENANT
from table import IDENTITY, METADATA, ROLES, TOKEN_ERRORS, TOKENS, THROTTLING, refused, yields

SUBSCRIPTION_PATH = f'/subscriptions/{SUBSCRIPTION}'
OWNER = PRINCIPALS['owner'][0]


def bearer(s, seconds=3600, audience='https://management.azure.com'):
    return s.cloud.admin('POST', 'bearers', {'principal': 'owner', 'audience': audience, 'seconds': seconds})['token']


def asked(s, token=None, path=SUBSCRIPTION_PATH, **more):
    return s.cloud.raw('GET', path, token, **more)


def token_of(s, client=OWNER, secret='owner-secret', tenant=TENANT, scope=SCOPE):
    return bool(s.cloud.credential(client, secret, tenant).get_token(scope).token)


def asserted(s, client, assertion='a federated token'):
    more = {'authority': s.cloud.url, 'disable_instance_discovery': True, 'connection_verify': s.cloud.ca}
    return bool(ClientAssertionCredential(TENANT, client, lambda: assertion, **more).get_token(SCOPE).token)


def raw_token(s, **form):
    whole = {'grant_type': 'client_credentials', 'client_id': OWNER, 'client_secret': 'owner-secret', 'scope': SCOPE, **form}
    answer = s.cloud.session.post(f'{s.cloud.url}/{TENANT}/oauth2/v2.0/token', data=whole, timeout=20)
    return answer.status_code, answer.json().get('error')


def identity(s, **more):
    os.environ['AZURE_POD_IDENTITY_AUTHORITY_HOST'] = s.cloud.metadata
    token = ManagedIdentityCredential(**more).get_token(SCOPE).token
    return asked(s, token).status_code


def no_identity(s):
    try:
        return identity(s, client_id='00000000-0000-0000-0000-0000000000ff')
    except ClientAuthenticationError as error:
        return 'Identity not found' in error.message


def metadata(s, path, headers=None, version='2021-02-01', **query):
    query = {**query, **({'api-version': version} if version else {})}
    headers = {'Metadata': 'true'} if headers is None else headers
    answer = requests.get(f'{s.cloud.metadata}/metadata/{path}', params=query, headers=headers, timeout=20)
    return answer.status_code, answer.text


ROWS = [
    refused('a request without a token', ROLES, lambda s: asked(s, headers={'Authorization': None}), 'AuthenticationFailed', 401),
    refused('a request with another scheme', ROLES, lambda s: asked(s, headers={'Authorization': 'Basic abc'}), 'AuthenticationFailedInvalidHeader', 401),
    refused('a request with a token of nobody', ROLES, lambda s: asked(s, 'a.b.c'), 'InvalidAuthenticationToken', 401),
    refused('a request with a token whose body was changed', ROLES, lambda s: asked(s, bearer(s).replace('.', '.e', 1)), 'InvalidAuthenticationToken', 401),
    refused('a request with an expired token', ROLES, lambda s: asked(s, bearer(s, -10)), 'ExpiredAuthenticationToken', 401),
    refused('a request with a token for another service', ROLES, lambda s: asked(s, bearer(s, audience='https://vault.azure.net')), 'InvalidAuthenticationTokenAudience', 401),
    yields('a request with a token for the endpoint itself', TOKENS, lambda s: asked(s, s.cloud.token(scope=f'{s.cloud.url}/.default')).status_code, 200),
    refused('a request without an api-version', THROTTLING, lambda s: asked(s, version=None), 'MissingApiVersionParameter'),
    refused('a request with an api-version that is no date', THROTTLING, lambda s: asked(s, version='newest'), 'InvalidApiVersionParameter'),
    refused('a request for an unknown type', THROTTLING, lambda s: asked(s, path=f'{SUBSCRIPTION_PATH}/providers/Microsoft.None/things'), 'InvalidResourceType', 404),
    refused('a request with another method', THROTTLING, lambda s: s.cloud.raw('POST', s.path()), 'UnsupportedHttpMethod', 405),
    refused('a request whose body is not JSON', THROTTLING, lambda s: s.cloud.raw('PUT', s.path(), body='{'), 'InvalidRequestContent'),
    yields('a token for a secret', TOKENS, token_of, True),
    refused('a token for a wrong secret', TOKEN_ERRORS, lambda s: token_of(s, secret='wrong'), 'AADSTS7000215', None),
    refused('a token for an unknown client', TOKEN_ERRORS, lambda s: token_of(s, '00000000-0000-0000-0000-0000000000ff'), 'AADSTS700016', None),
    refused('a token for a scope without a default', TOKEN_ERRORS, lambda s: token_of(s, scope='https://management.azure.com/user'), 'AADSTS1002012', None),
    yields('a token of another tenant', TOKEN_ERRORS, lambda s: s.cloud.session.post(f'{s.cloud.url}/{SUBSCRIPTION}/oauth2/v2.0/token', timeout=20).json()['error_codes'], [90002]),
    yields('a token for another grant', TOKEN_ERRORS, lambda s: raw_token(s, grant_type='password'), (400, 'unsupported_grant_type')),
    yields('a token for a federated token', TOKENS, lambda s: asserted(s, OWNER), True),
    refused('a token for a federated token of a client without a federation', TOKEN_ERRORS, lambda s: asserted(s, PRINCIPALS['reader'][0]), 'AADSTS70021', None),
    yields('a token of the identity of a machine', IDENTITY, lambda s: identity(s, client_id=OWNER), 200),
    yields('a token of the only identity of a machine', IDENTITY, identity, 200),
    yields('a token of an unknown identity', IDENTITY, no_identity, True),
    yields('metadata without the header', METADATA, lambda s: metadata(s, 'instance', {})[0], 400),
    yields('metadata without an api-version', METADATA, lambda s: metadata(s, 'instance', version=None)[0], 400),
    yields('metadata that was forwarded', METADATA, lambda s: metadata(s, 'instance', {'Metadata': 'true', 'X-Forwarded-For': '10.0.0.1'})[0], 400),
    yields('the environment of a machine', METADATA, lambda s: metadata(s, 'instance/compute/azEnvironment', format='text'), (200, 'AzurePublicCloud')),
    yields('the subscription of a machine', METADATA, lambda s: metadata(s, 'instance/compute/subscriptionId', format='text'), (200, SUBSCRIPTION)),
    yields('the resource group of a machine', METADATA, lambda s: metadata(s, 'instance/compute/resourceGroupName', format='text'), (200, 'rows')),
    yields('metadata that does not exist', METADATA, lambda s: metadata(s, 'instance/compute/none', format='text')[0], 404),
]
