import { setImmediate as turn } from 'node:timers/promises';
import { resources } from '../schemas/index.ts';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import type { Service } from '../service.ts';
import { changeRecord } from './write.ts';

const actor = { type: 'system', id: 'clock' };

/** Few enough that other requests need not wait long. */
const stepsAtOnce = 50;

const passing = resources.filter(({ states }) => states?.passing);

/**
 * Makes the steps that are due, such as sending what was scheduled, in the order of their times.
 * Nothing ticks in between, so a test moves through days by moving the clock. Call it before a
 * request is answered; other requests may be answered while it works off a backlog.
 */
export async function catchUp(service: Service): Promise<void> {
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

/** One by one, as a step may make the next one of the same record due before those of others. */
function nextStep({ store, now }: Service, resource: Resource): Step | undefined {
	return store.table(resource.name)!.due(new Date(now()).toISOString(), 1)[0];
}

function takeStep(service: Service, resource: Resource, { record, at }: Step): void {
	const { change } = resource.states!.passing!.next(record, at);
	const writing = { ...service, resource, actor, request: null, now: Date.parse(at) };
	changeRecord(writing, record, change, true);
}
