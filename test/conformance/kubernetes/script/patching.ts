// PATCH on a CiliumNode and on its status: merge patches with all corner cases, JSON patches, and refused kinds.
import { absent, like, type Step, step } from '../step.ts';
import { ciliumNodes } from './paths.ts';

const a1 = `${ciliumNodes}/a1`;
const jsonPatch = 'application/json-patch+json';

export const patching: readonly Step[] = [
  step(
    'merges nested maps and ignores the status',
    {
      method: 'PATCH',
      path: a1,
      body: {
        spec: {
          ipam: {
            pool: { '10.0.0.1': { resource: 'eni-1' }, '10.0.0.2': { resource: 'eni-1', owner: 'x' } },
          },
        },
        status: { eni: { enis: {} } },
      },
    },
    {
      status: 200,
      body: {
        metadata: { generation: 4 },
        spec: { ipam: { 'pre-allocate': 8, pool: { '10.0.0.2': { resource: 'eni-1', owner: 'x' } } } },
        status: { eni: absent },
      },
      capture: { rv: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'does nothing when nothing changes',
    { method: 'PATCH', path: a1, body: { spec: { ipam: { 'pre-allocate': 8 } } } },
    { status: 200, body: { metadata: { resourceVersion: '{rv}', generation: 4 } } },
  ),
  step(
    'does nothing for an empty patch',
    { method: 'PATCH', path: a1, body: {} },
    { status: 200, body: { metadata: { resourceVersion: '{rv}' } } },
  ),
  step(
    'removes a key by null, and keeps the others',
    { method: 'PATCH', path: a1, body: { spec: { ipam: { pool: { '10.0.0.2': null, '10.0.0.9': null } } } } },
    {
      status: 200,
      body: {
        spec: {
          ipam: { pool: { '10.0.0.1': { resource: 'eni-1' }, '10.0.0.2': absent, '10.0.0.9': absent } },
        },
      },
    },
  ),
  step(
    'replaces lists as a whole',
    { method: 'PATCH', path: a1, body: { spec: { eni: { 'subnet-ids': ['a', 'b'] } } } },
    { status: 200, body: { spec: { eni: { 'subnet-ids': ['a', 'b'] } } } },
  ),
  step(
    'replaces lists again',
    { method: 'PATCH', path: a1, body: { spec: { eni: { 'subnet-ids': ['c'] } } } },
    { status: 200, body: { spec: { eni: { 'subnet-ids': ['c'] } } } },
  ),
  step(
    'drops nulls inside a new part',
    {
      method: 'PATCH',
      path: a1,
      body: {
        spec: {
          eni: { 'vpc-id': null, 'subnet-tags': { a: null, b: 'c' } },
          addresses: [{ ip: null, type: 'x' }],
        },
      },
    },
    {
      status: 200,
      body: {
        spec: {
          eni: { 'vpc-id': absent, 'subnet-tags': { a: absent, b: 'c' } },
          addresses: [{ type: 'x', ip: absent }],
        },
      },
    },
  ),
  step(
    'adds and removes labels without a new generation',
    { method: 'PATCH', path: a1, body: { metadata: { labels: { zone: null, tier: 'gold' } } } },
    {
      status: 200,
      body: { metadata: { generation: 8, labels: { tier: 'gold', zone: absent } } },
      capture: { rv: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'accepts a version as a precondition',
    {
      method: 'PATCH',
      path: a1,
      body: { metadata: { resourceVersion: '{rv}' }, spec: { 'instance-id': 'i-1' } },
    },
    {
      status: 200,
      body: { spec: { 'instance-id': 'i-1' } },
      capture: { rv4: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'refuses a patch for an old version',
    {
      method: 'PATCH',
      path: a1,
      body: { metadata: { resourceVersion: '{rv}' }, spec: { 'instance-id': 'i-2' } },
    },
    {
      status: 409,
      reason: 'Conflict',
      message: like(
        /^Operation cannot be fulfilled on ciliumnodes.cilium.io "a1": the object has been modified;/,
      ),
    },
  ),
  step(
    'refuses a patch that removes the version',
    { method: 'PATCH', path: a1, body: { metadata: { resourceVersion: null } } },
    {
      status: 422,
      message: like(/metadata.resourceVersion: Invalid value: 0x0: must be specified for an update$/),
    },
  ),
  step(
    'accepts the uid as a precondition',
    { method: 'PATCH', path: a1, body: { metadata: { uid: '{uid}' } } },
    { status: 200, body: { metadata: { resourceVersion: '{rv4}' } } },
  ),
  step(
    'refuses a patch for another uid as a change of the uid',
    { method: 'PATCH', path: a1, body: { metadata: { uid: 'other' } } },
    {
      status: 422,
      reason: 'Invalid',
      message:
        'CiliumNode.cilium.io "a1" is invalid: metadata.uid: Invalid value: "other": field is immutable',
      body: { details: { causes: [{ field: 'metadata.uid' }, { field: 'metadata.uid' }] } },
    },
  ),
  step(
    'refuses a patch of the name',
    { method: 'PATCH', path: a1, body: { metadata: { name: 'other' } } },
    { status: 400, message: 'the name of the object (other) does not match the name on the URL (a1)' },
  ),
  step(
    'refuses a patch that removes the metadata',
    { method: 'PATCH', path: a1, body: { metadata: null } },
    {
      status: 400,
      message: 'the name of the object (a1 based on URL) was undeterminable: name must be provided',
    },
  ),
  step(
    'refuses a patch of the kind',
    { method: 'PATCH', path: a1, body: { kind: 'Other' } },
    {
      status: 422,
      message: 'Other.cilium.io "a1" is invalid: kind: Invalid value: "Other": must be CiliumNode',
    },
  ),
  step(
    'refuses a patch of the deletion time',
    { method: 'PATCH', path: a1, body: { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } } },
    {
      status: 422,
      message:
        'CiliumNode.cilium.io "a1" is invalid: metadata.deletionTimestamp: Invalid value: 2020-01-01 00:00:00 +0000 UTC: field is immutable',
    },
  ),
  step(
    'ignores a patch of fields of the server',
    {
      method: 'PATCH',
      path: a1,
      body: { metadata: { generation: 99, creationTimestamp: null, namespace: 'x' } },
    },
    { status: 200, body: { metadata: { resourceVersion: '{rv4}', generation: 9, namespace: absent } } },
  ),
  step(
    'refuses a patched label that is no text',
    { method: 'PATCH', path: a1, body: { metadata: { labels: { a: 1 } } } },
    {
      status: 422,
      reason: 'Invalid',
      message: like(
        /^ "" is invalid: patch: Invalid value: .* json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string$/,
      ),
      body: { details: { kind: absent, causes: [{ reason: 'FieldValueInvalid', field: 'patch' }] } },
    },
  ),
  step(
    'reports a bad label as often as it validates it',
    { method: 'PATCH', path: a1, body: { metadata: { labels: { a: 'b c' } } } },
    {
      status: 422,
      message: like(
        /^CiliumNode.cilium.io "a1" is invalid: metadata.labels: Invalid value: "b c": a valid label must/,
      ),
      body: {
        details: {
          causes: [{ field: 'metadata.labels' }, { field: 'metadata.labels' }, { field: 'metadata.labels' }],
        },
      },
    },
  ),
  step(
    'validates the result of a patch',
    { method: 'PATCH', path: a1, body: { spec: { ipam: { 'pre-allocate': -4 } } } },
    { status: 422, message: like(/spec.ipam.pre-allocate in body should be greater than or equal to 0$/) },
  ),
  step(
    'refuses a patch that removes the spec',
    { method: 'PATCH', path: a1, body: { spec: null } },
    { status: 422, message: 'CiliumNode.cilium.io "a1" is invalid: spec: Required value' },
  ),
  step(
    'prunes unknown fields, so that nothing changes',
    { method: 'PATCH', path: a1, body: { spec: { unknown: 1 } } },
    {
      status: 200,
      warnings: ['unknown field "spec.unknown"'],
      body: { metadata: { resourceVersion: '{rv4}' } },
    },
  ),
  step(
    'refuses unknown fields when the request is strict',
    { method: 'PATCH', path: `${a1}?fieldValidation=Strict`, body: { spec: { unknown: 1 } } },
    { status: 422, message: like(/strict decoding error: unknown field "spec.unknown"$/) },
  ),
  step(
    'patches in a dry run',
    { method: 'PATCH', path: `${a1}?dryRun=All`, body: { spec: { 'instance-id': 'i-9' } } },
    { status: 200, body: { spec: { 'instance-id': 'i-9' }, metadata: { generation: 10 } } },
  ),
  step(
    'does not patch a missing object',
    { method: 'PATCH', path: `${ciliumNodes}/none`, body: {} },
    { status: 404, reason: 'NotFound' },
  ),
  step(
    'refuses a list as a patch',
    { method: 'PATCH', path: a1, text: '[]' },
    {
      status: 400,
      message:
        'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}',
    },
  ),
  step(
    'refuses an empty patch',
    { method: 'PATCH', path: a1, text: 'null' },
    { status: 400, message: 'Invalid JSON Patch' },
  ),
  step(
    'refuses a patch that is no JSON',
    { method: 'PATCH', path: a1, text: '{"spec":' },
    { status: 400, message: 'error decoding patch: unexpected end of JSON input' },
  ),
  step(
    'refuses a strategic merge patch',
    { method: 'PATCH', path: a1, body: {}, contentType: 'application/strategic-merge-patch+json' },
    {
      status: 415,
      reason: 'UnsupportedMediaType',
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    },
  ),
  step(
    'refuses plain JSON as a patch',
    { method: 'PATCH', path: a1, body: {}, contentType: 'application/json' },
    { status: 415, reason: 'UnsupportedMediaType' },
  ),
  step(
    'applies a JSON patch',
    {
      method: 'PATCH',
      path: a1,
      contentType: jsonPatch,
      body: [
        { op: 'test', path: '/metadata/uid', value: '{uid}' },
        { op: 'add', path: '/spec/addresses', value: [] },
        { op: 'add', path: '/spec/addresses/-', value: { ip: '10.0.0.1', type: 'InternalIP' } },
        { op: 'remove', path: '/spec/eni' },
      ],
    },
    { status: 200, body: { spec: { addresses: [{ ip: '10.0.0.1', type: 'InternalIP' }], eni: absent } } },
  ),
  step(
    'refuses a JSON patch whose test fails',
    {
      method: 'PATCH',
      path: a1,
      contentType: jsonPatch,
      body: [{ op: 'test', path: '/metadata/uid', value: 'x' }],
    },
    {
      status: 422,
      reason: 'Invalid',
      message: 'the server rejected our request due to an error in our request',
    },
  ),
  step(
    'refuses an object as a JSON patch',
    { method: 'PATCH', path: a1, contentType: jsonPatch, body: {} },
    {
      status: 400,
      message:
        'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    },
  ),
  step(
    'patches the status and nothing else',
    {
      method: 'PATCH',
      path: `${a1}/status`,
      body: {
        metadata: { labels: { ignored: 'yes' } },
        spec: { ipam: { 'pre-allocate': 55 } },
        status: { ipam: { 'release-ips': { '10.0.0.1': 'marked-for-release' } } },
      },
    },
    {
      status: 200,
      body: {
        metadata: { labels: { ignored: absent } },
        spec: { ipam: { 'pre-allocate': 8 } },
        status: {
          ipam: {
            used: { '10.0.0.1': { owner: 'pod' } },
            'release-ips': { '10.0.0.1': 'marked-for-release' },
          },
        },
      },
      capture: { rv: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'refuses a status outside its choices',
    {
      method: 'PATCH',
      path: `${a1}/status`,
      body: { status: { ipam: { 'release-ips': { '10.0.0.1': 'bogus' } } } },
    },
    {
      status: 422,
      message:
        'CiliumNode.cilium.io "a1" is invalid: status.ipam.release-ips.10.0.0.1: Unsupported value: "bogus": supported values: "marked-for-release", "ready-for-release", "do-not-release", "released"',
      body: {
        details: {
          causes: [{ reason: 'FieldValueNotSupported', field: 'status.ipam.release-ips.10.0.0.1' }],
        },
      },
    },
  ),
  step(
    'names the status in the path only for a wrong type',
    { method: 'PATCH', path: `${a1}/status`, body: { status: 5 } },
    {
      status: 422,
      message:
        'CiliumNode.cilium.io "a1" is invalid: status: Invalid value: "integer":  in body must be of type object: "integer"',
    },
  ),
  step(
    'does not check the uid of a patch of the status',
    {
      method: 'PATCH',
      path: `${a1}/status`,
      body: { metadata: { uid: 'other' }, status: { ipam: { 'release-ips': null } } },
    },
    {
      status: 200,
      body: { metadata: { uid: '{uid}' }, status: { ipam: { 'release-ips': absent } } },
      capture: { rv5: ['metadata', 'resourceVersion'] },
    },
  ),
  step(
    'checks the version of a patch of the status',
    {
      method: 'PATCH',
      path: `${a1}/status`,
      body: { metadata: { resourceVersion: '{rv}' }, status: { ipam: null } },
    },
    { status: 409, reason: 'Conflict' },
  ),
  step(
    'removes the whole status',
    { method: 'PATCH', path: `${a1}/status`, body: { metadata: { resourceVersion: '{rv5}' }, status: null } },
    { status: 200, body: { status: absent } },
  ),
];
