import { resources } from '../../core/schemas/index.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import type { Service } from '../../core/service.ts';
import type { DueTransition } from '../../core/store/records/table.ts';
import { changeByService, deleteRecord } from './write.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';

const actor = { type: 'system', id: 'clock' };

const timedResources = resources.filter(({ states }) => states?.timed);

/**
 * Applies the timed transitions that are due, such as sending a scheduled message, in chronological
 * order. There is no timer, so a test can skip days by advancing the clock. Call it before responding to
 * a request.
 */
export function applyDueTransitions(service: Service): void {
	endExpiredWebhooks(service);
	for (const resource of timedResources) {
		if (nextStep(service, resource)) service.store.transaction(() => takeSteps(service, resource));
	}
}

/** Steps are taken one at a time, because the next step of the same record may be due before those of other records. */
function takeSteps(service: Service, resource: Resource): void {
	for (let step = nextStep(service, resource); step; step = nextStep(service, resource)) {
		const { change } = resource.states!.timed!.next(step.record, step.at);
		const context = { ...service, resource, actor, request: null, now: Date.parse(step.at) };
		changeByService(context, step.record, change);
	}
}

const nextStep = ({ store, now }: Service, resource: Resource): DueTransition | undefined =>
	store.table(resource.name)!.nextDue(new Date(now()).toISOString());

/** Deletes the subscriptions that were to end by now. */
function endExpiredWebhooks(service: Service): void {
	const { store } = service;
	const now = service.now();
	const isExpired = { sql: "expires_at <> '' AND expires_at <= ?", values: [new Date(now).toISOString()] };
	for (const { id } of store.table(webhooks.name)!.findAll([isExpired])) {
		store.transaction(() => deleteRecord({ ...service, resource: webhooks, actor, request: null, now }, id, undefined));
	}
}
