import { resources } from '../schemas/index.ts';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import type { Service } from '../service.ts';
import { changeRecord } from './write.ts';

const actor = { type: 'system', id: 'clock' };

/**
 * Does what time alone has done since the last look, each step at its own time. Nothing ticks in
 * between, so that a test moves through days by moving the clock. Call it in a transaction.
 */
export function catchUp(service: Service): void {
	for (const { resource, record } of overdue(service)) {
		let current: StoredRecord | undefined = record;
		while (current) current = takeStep(service, resource, current);
	}
}

/** The same for requests that only read: most find nothing to do and need no transaction. */
export function catchUpToRead(service: Service): void {
	if (overdue(service).length > 0) service.store.transaction(() => catchUp(service));
}

/** @returns the record after its next step, or undefined if none is due */
function takeStep(service: Service, resource: Resource, record: StoredRecord) {
	const step = nextStep(resource, record);
	const now = step ? Date.parse(step.at) : Infinity;
	if (!step || now > service.now()) return undefined;
	const writing = { ...service, resource, actor, request: null, now };
	return changeRecord(writing, record, step.change, true);
}

function overdue({ store, now }: Service) {
	return resources.flatMap((resource) => {
		const { field, passing } = resource.states ?? {};
		if (!passing) return [];
		const marks = passing.states.map(() => '?').join();
		const isUnderWay = { sql: `"${field}" IN (${marks})`, values: passing.states };
		return store
			.table(resource.name)!
			.findAll([isUnderWay], 10_000)
			.filter((record) => Date.parse(nextStep(resource, record)!.at) <= now())
			.map((record) => ({ resource, record }));
	});
}

function nextStep({ states }: Resource, record: StoredRecord) {
	const isPassing = states?.passing?.states.includes(String(record[states.field]));
	return isPassing ? states!.passing!.next(record) : undefined;
}
