import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { canMakeKeys, idempotencyKey, originOfKey } from '../api/http/idempotency';
import type { ResourceDescription } from '../api/openapi/description';
import { refersToRecords } from '../api/openapi/linkFields';
import type { Execution } from '../model';

/** The fields of a kind of record that can be written. */
export interface Writable {
	isChanged(name: string): boolean;
	/** Whether its values are lists of other records. */
	isSet(name: string): boolean;
	isCreated(name: string): boolean;
	/** Whether a client sets a field, by the name that events give it. */
	isWritten(name: string): boolean;
	/** The fields that only have meaning with this one, such as a stage and its pipeline. */
	changedWith(name: string): string[];
	/** Whether a record has all fields that can be written, be they empty: one that lacks some may be a part only. */
	isWhole(record: IDataObject): boolean;
	/** Whether a record can be created under a key by which the next undo finds it. */
	namesDeletions: boolean;
}

/** What a client can write, as the service describes it. */
export function writableOf({ api, identity }: Execution, description: ResourceDescription | undefined): Writable {
	const { create, update, fields: ofRecord = [] } = description ?? {};
	const names = (fields: Array<{ path: string[] }> = []) => new Set(fields.map(({ path: [name = ''] }) => name));
	const [changed, created] = [names(update?.fields), names(create?.fields)];
	const answered = new Set(ofRecord.map(({ name }) => name));
	// What no answer has, such as a password, can only be written.
	const readBack = [...created].filter((name) => answered.size === 0 || answered.has(name));
	const members = (create?.fields ?? []).flatMap(({ path: [name = '', member, ...deeper] }): Array<[string, string]> => (member !== undefined && deeper.length === 0 && readBack.includes(name) ? [[name, member]] : []));
	const format = create?.idempotencyKey ?? {};
	const namesDeletions =
		api.isSelfDescribed() && create?.idempotencyHeader !== undefined && canMakeKeys(format) && originOfKey(idempotencyKey({ ...identity, items: [0], deletion: '' }, format)) !== undefined;
	const sets = new Set((update?.fields ?? []).filter(refersToRecords).map(({ name }) => name));
	const items = (update?.fields ?? []).filter(({ part }) => part !== undefined);
	const owners = (update?.fields ?? []).filter(({ part }) => part === undefined);
	const pairs = items.flatMap((item) => owners.filter(({ reference }) => reference === item.reference).map((owner) => [item.name, owner.name]));
	return {
		changedWith: (name) => pairs.filter((pair) => pair.includes(name)).flatMap((pair) => pair.filter((fieldName) => fieldName !== name)),
		isChanged: (name) => changed.has(name),
		isSet: (name) => sets.has(name),
		isCreated: (name) => created.has(name),
		isWritten: (name) => [changed, created].some((some) => some.has(name.replace(/\..*$/s, ''))),
		isWhole: (record) => readBack.every((name) => Object.hasOwn(record, name)) && members.every(([name, member]) => !isObject(record[name]) || Object.hasOwn(record[name], member)),
		namesDeletions,
	};
}
