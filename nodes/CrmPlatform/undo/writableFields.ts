import type { IDataObject } from 'n8n-workflow';

import { idempotencyKey, originOfKey } from '../api/http/idempotency';
import { isObject } from '../base/json';
import type { ResourceDescription } from '../api/openapi/description';
import { isRecordLink } from '../api/openapi/linkFields';
import type { Field } from '../fields/field';
import type { Execution } from '../model';
import { topLevelName } from './changedField';

/** The fields of a record type that a client can write. */
export interface WritableFields {
	canUpdate(name: string): boolean;
	canCreate(name: string): boolean;
	/** Whether a client can write a field in any way. The name is the one that events use. */
	canWrite(name: string): boolean;
	/** The field of this name, if it links to other records. */
	linkField(name: string): Field | undefined;
	/** The fields that only have a meaning together with this one, such as a stage and its pipeline. */
	dependentFields(name: string): string[];
	/** Whether a record has all writable fields, even if empty: otherwise, the event contains only a part of it. */
	isComplete(record: IDataObject): boolean;
	/** Whether a record can be created under a key by which the next undo finds it. */
	canMarkRecreations: boolean;
}

/** The fields that a client can write according to the service's description. */
export function writableFieldsOf(
	execution: Execution,
	description: ResourceDescription | undefined,
	customFields: Field[],
): WritableFields {
	const { create, update, fields: responseFields = [] } = description ?? {};
	const [updatable, creatable] = [topLevelNames(update?.fields), topLevelNames(create?.fields)];
	const responseNames = new Set(responseFields.map(({ name }) => name));
	// Responses do not contain a password, for example, so a complete record does not have it either.
	const readable = [...creatable].filter((name) => responseNames.size === 0 || responseNames.has(name));
	const members = (create?.fields ?? []).flatMap(({ path: [name = '', member, ...deeper] }): Array<[string, string]> =>
		member !== undefined && deeper.length === 0 && readable.includes(name) ? [[name, member]] : [],
	);
	const links = new Map([...(update?.fields ?? []), ...customFields].filter(isRecordLink).map((field) => [field.name, field]));
	const pairs = dependentPairs(update?.fields ?? []);
	return {
		canUpdate: (name) => updatable.has(name),
		canCreate: (name) => creatable.has(name),
		canWrite: (name) => [updatable, creatable].some((names) => names.has(topLevelName(name))),
		linkField: (name) => links.get(name),
		dependentFields: (name) => pairs.filter((pair) => pair.includes(name)).flatMap((pair) => pair.filter((other) => other !== name)),
		isComplete: (record) =>
			readable.every((name) => Object.hasOwn(record, name)) &&
			members.every(([name, member]) => !isObject(record[name]) || Object.hasOwn(record[name], member)),
		canMarkRecreations: canMarkRecreations(execution, create),
	};
}

const topLevelNames = (fields: Field[] = []): Set<string> => new Set(fields.map(({ path: [name = ''] }) => name));

/** Pairs of a field that names a part, such as a stage, and the field that names its owner, such as a pipeline. */
function dependentPairs(fields: Field[]): string[][] {
	const parts = fields.filter(({ part }) => part !== undefined);
	const owners = fields.filter(({ part }) => part === undefined);
	return parts.flatMap((part) => owners.filter(({ collection }) => collection === part.collection).map((owner) => [part.name, owner.name]));
}

/** Whether the idempotency key of a creation can name the deletion that it undoes. */
function canMarkRecreations({ api, identity }: Execution, create: ResourceDescription['create']): boolean {
	if (!api.isSelfDescribed() || create?.idempotencyHeader === undefined) return false;
	const format = create.idempotencyKey ?? {};
	return originOfKey(idempotencyKey({ ...identity, items: [0], deletion: '' }, format)) !== undefined;
}
