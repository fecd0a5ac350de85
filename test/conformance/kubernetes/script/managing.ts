// metadata.managedFields: which manager set what, by the name in each write. The object is deleted at the end.
import { absent, like, type Step, step } from '../step.ts';
import { ciliumNode, ciliumNodes } from './paths.ts';

const m1 = `${ciliumNodes}/m1`;
const common = {
  operation: 'Update',
  apiVersion: 'cilium.io/v2',
  fieldsType: 'FieldsV1',
  time: like(/^20.*Z$/),
};
const patch = 'application/merge-patch+json';

export const managing: readonly Step[] = [
  step(
    'records who creates an object, and with which fields',
    {
      method: 'POST',
      path: `${ciliumNodes}?fieldManager=a-maker`,
      body: ciliumNode('m1', { ipam: { 'pre-allocate': 8, 'min-allocate': 1 } }),
    },
    {
      status: 201,
      body: {
        metadata: {
          managedFields: [
            {
              ...common,
              manager: 'a-maker',
              subresource: absent,
              fieldsV1: {
                'f:spec': { 'f:ipam': { 'f:pre-allocate': {}, 'f:min-allocate': {} } },
                'f:status': absent,
              },
            },
          ],
        },
      },
    },
  ),
  step(
    'moves a field to the manager that changes its value, and no other field',
    {
      method: 'PATCH',
      path: `${m1}?fieldManager=b-patcher`,
      contentType: patch,
      body: { spec: { ipam: { 'pre-allocate': 9 } } },
    },
    {
      status: 200,
      body: {
        metadata: {
          managedFields: [
            {
              ...common,
              manager: 'a-maker',
              fieldsV1: { 'f:spec': { 'f:ipam': { 'f:pre-allocate': absent, 'f:min-allocate': {} } } },
            },
            {
              ...common,
              manager: 'b-patcher',
              fieldsV1: { 'f:spec': { 'f:ipam': { 'f:pre-allocate': {}, 'f:min-allocate': absent } } },
            },
          ],
        },
      },
    },
  ),
  step(
    'records a write of the status as such',
    {
      method: 'PATCH',
      path: `${m1}/status?fieldManager=c-reporter`,
      contentType: patch,
      body: { status: { ipam: { used: { '10.0.0.1': { resource: 'eni-1' } } } } },
    },
    {
      status: 200,
      body: {
        metadata: {
          managedFields: [
            { manager: 'a-maker' },
            { manager: 'b-patcher' },
            {
              ...common,
              manager: 'c-reporter',
              subresource: 'status',
              fieldsV1: { 'f:status': { 'f:ipam': { 'f:used': {} } }, 'f:spec': absent },
            },
          ],
        },
      },
    },
  ),
  step('deletes the object', { method: 'DELETE', path: m1 }, { status: 200 }),
];
