import { setImmediate as turn } from 'node:timers/promises';
import { resources } from '../schemas/index.ts';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import type { Service } from '../http/service.ts';
import { changeRecord } from './write.ts';

const actor = { type: 'system', id: 'clock' };

/** The batch size, small enough that other requests do not wait long. */
const stepsAtOnce = 50;

const passing = resources.filter(({ states }) => states?.timed);

/**
 * Applies the timed transitions that are due, such as sending a scheduled message, in chronological
 * order. There is no timer, so a test can skip days by advancing the clock. Call it before answering a
 * request; other requests are answered while it works through a backlog.
 */
export async function applyDueTransitions(service: Service): Promise<void> {
	while (service.store.isOpen && takeSteps(service)) await turn();
}

/** @returns whether there may be more to do */
function takeSteps(service: Service): boolean {
	const { store } = service;
	const resource = passing.find((one) => nextStep(service, one));
	if (!resource) return false;
	store.transaction(() => {
		for (let i = 0; i < stepsAtOnce; i++) {
			const step = nextStep(service, resource);
			if (!step) return;
			takeStep(service, resource, step);
		}
	});
	return true;
}

interface Step {
	record: StoredRecord;
	/** The instant, RFC 3339. */
	at: string;
}

/**
 * The earliest step. Steps are taken one at a time, because the next step of the same record may be due
 * before those of other records.
 */
function nextStep({ store, now }: Service, resource: Resource): Step | undefined {
	return store.table(resource.name)!.due(new Date(now()).toISOString(), 1)[0];
}

function takeStep(service: Service, resource: Resource, { record, at }: Step): void {
	const { change } = resource.states!.timed!.next(record, at);
	const writing = { ...service, resource, actor, request: null, now: Date.parse(at) };
	changeRecord(writing, record, change, true);
}
