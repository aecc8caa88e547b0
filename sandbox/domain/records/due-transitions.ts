import { resources } from '../../core/schemas/index.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import type { Service } from '../../core/service.ts';
import type { DueTransition } from '../../core/store/records/table.ts';
import type { Store } from '../../core/store/store.ts';
import { changeByService, deleteRecord } from './write.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';

const actor = { type: 'system', id: 'clock' };

/** Maximum number of steps before the response to a request. */
const stepsOfRequest = 50;

/** Number of steps of a longer backlog that are applied at once, which takes a few milliseconds. */
const stepsPerTurn = 3;

const timedResources = resources.filter(({ states }) => states?.timed);

/** The stores whose backlog is being processed. */
const storesWithBacklog = new WeakSet<Store>();

/**
 * Applies the timed transitions that are due, such as sending a scheduled message, in chronological
 * order. There is no timer, so a test can skip days by advancing the clock. Call it before responding to
 * a request.
 *
 * No request waits for a long backlog, which is processed a few steps at a time between
 * requests. Until then, lists may show earlier states; a single record that is read or changed is brought
 * up to date by `applyOwnTransitions`.
 */
export function applyDueTransitions(service: Service): void {
	const { store } = service;
	endExpiredWebhooks(service);
	if (storesWithBacklog.has(store) || !takeSteps(service, stepsOfRequest)) return;
	storesWithBacklog.add(store);
	processBacklog(service).catch(console.error).finally(() => storesWithBacklog.delete(store));
}

/** Deletes the subscriptions that were to end by now. */
function endExpiredWebhooks(service: Service): void {
	const { store } = service;
	const now = service.now();
	const isExpired = { sql: "expires_at <> '' AND expires_at <= ?", values: [new Date(now).toISOString()] };
	for (const { id } of store.table(webhooks.name)!.findAll([isExpired])) {
		store.transaction(() => deleteRecord({ ...service, resource: webhooks, actor, request: null, now }, id, undefined));
	}
}

/** Applies the due transitions of one record, regardless of the backlog. */
export function applyTransitionsOf(service: Service, resource: Resource, id: string): void {
	const { store } = service;
	if (!storesWithBacklog.has(store) || !resource.states?.timed) return;
	store.transaction(() => {
		for (let step = nextStep(service, resource, id); step; step = nextStep(service, resource, id)) {
			takeStep(service, resource, step);
		}
	});
}

async function processBacklog(service: Service): Promise<void> {
	const { store, background } = service;
	while (await background.run(() => store.isOpen && takeSteps(service, stepsPerTurn)));
}

/** @returns whether there may be more to do */
function takeSteps(service: Service, maxSteps: number): boolean {
	const { store } = service;
	const resource = timedResources.find((candidate) => nextStep(service, candidate));
	if (!resource) return false;
	store.transaction(() => {
		for (let i = 0; i < maxSteps; i++) {
			const step = nextStep(service, resource);
			if (!step) return;
			takeStep(service, resource, step);
		}
	});
	return true;
}

/**
 * The earliest step. Steps are taken one at a time, because the next step of the same record may be due
 * before those of other records.
 */
const nextStep = ({ store, now }: Service, resource: Resource, id?: string): DueTransition | undefined =>
	store.table(resource.name)!.nextDue(new Date(now()).toISOString(), id);

function takeStep(service: Service, resource: Resource, { record, at }: DueTransition): void {
	const { change } = resource.states!.timed!.next(record, at);
	const context = { ...service, resource, actor, request: null, now: Date.parse(at) };
	changeByService(context, record, change);
}
