import type { CrmEvent } from '../../nodes/CrmPlatform/log/crmEvent';
import { passesFilter } from '../../nodes/CrmPlatform/trigger/eventProperties';
import { idempotencyKey, originOf } from '../../nodes/CrmPlatform/api/http/idempotency';
import { madeBy, ownOrigin, type IgnoredOrigins } from '../../nodes/CrmPlatform/log/cause';

const event = (idempotency_key: string | null, actor: string | number = 'usr_1'): CrmEvent => ({
	id: 'evt_1',
	type: 'contact.created',
	timestamp: '2026-01-01T00:00:00Z',
	sequence: 1,
	actor: { type: 'user', id: actor },
	request: { id: 'req_1', idempotency_key },
	data: { object: {}, previous: null, changed: [] },
});
const passes = (candidate: CrmEvent, keys: IgnoredOrigins['keys'], users: string[] = []) =>
	passesFilter(candidate, { changedFields: [], equal: {}, ignored: { keys, users } });
const origin = originOf('instance-1', 'wf1');
const workflowKey = idempotencyKey({
	instance: 'instance-1',
	workflow: 'wf1',
	execution: '1',
	node: 'node-1',
	run: 0,
	items: [0],
});

test('changes of this workflow are ignored; those of others and of longer ids are not', () => {
	const workflow = [ownOrigin('workflow', origin)];
	expect(passes(event(workflowKey), workflow)).toBe(false);
	expect(passes(event(workflowKey.replace('/wf1/', '/wf12/')), workflow)).toBe(true);
	expect(passes(event('order-4711'), workflow)).toBe(true);
	expect(passes(event(null), workflow)).toBe(true);
});

test('changes of any workflow of this n8n are ignored, those of another n8n are not', () => {
	expect(passes(event(workflowKey), [ownOrigin('instance', origin)])).toBe(false);
	expect(passes(event(workflowKey), [ownOrigin('instance', originOf('instance-2', 'wf1'))])).toBe(true);
});

test('changes of chosen users are ignored, whatever the CRM reports about requests', () => {
	const { request: _, ...plain } = event(null, 'usr_2');
	expect(passes(plain, [], ['usr_2'])).toBe(false);
	expect(passes(plain, [], ['usr_3'])).toBe(true);
	expect(passes(event(null, 7), [], ['7'])).toBe(false);
});

test('an event tells whether this workflow caused it, another one of this n8n, or somebody else', () => {
	expect(madeBy(event(workflowKey), origin)).toBe('this_workflow');
	expect(madeBy(event(workflowKey), originOf('instance-1', 'wf2'))).toBe('this_n8n');
	expect(madeBy(event(workflowKey), originOf('instance-2', 'wf1'))).toBe('other');
	expect(madeBy(event('order-4711'), origin)).toBe('other');
	expect(madeBy(event(null), origin)).toBe('other');
	const { request: _, ...plain } = event(null);
	expect(madeBy(plain, origin)).toBeUndefined();
});
