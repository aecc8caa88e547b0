import type { IDataObject } from 'n8n-workflow';

import { idText, isObject, parseJson } from '../base/json';
import { allCustomFields } from '../fields/field';
import type { EventCatalog } from '../api/openapi/eventTypes';
import type { Collection } from '../api/http/path';

/** Something that happened to a record, as the service delivers and logs it. */
export interface CrmEvent extends IDataObject {
	/** The ID of the event, the same for every attempt to deliver it. */
	id: string;
	/** For example `deal.won`. */
	type: string;
	/** When it happened (RFC 3339). */
	timestamp: string;
	/** Number of the event in the account; a higher number happened later. */
	sequence: number;
	data: IDataObject & {
		/** The record at that time. */
		object: IDataObject;
		/** Former values of the changed fields; null for events other than changes. */
		previous: IDataObject | null;
		/** Names of the fields that changed; `custom_fields.<key>` for custom fields. */
		changed: string[];
	};
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Parses an event; undefined if the JSON is none. Keeps unknown members, without deep copies: a log has hundreds of thousands of events. */
export function parseEvent(json: unknown): CrmEvent | undefined {
	if (!isObject(json) || !isObject(json.data)) return undefined;
	const { type, timestamp, sequence, data } = json;
	const id = idText(json.id);
	const { object, previous, changed } = data;
	if (![id, type, timestamp].every(isText) || type === '') return undefined;
	if (!Number.isInteger(sequence) || !isObject(object)) return undefined;
	if (!isObject(previous ?? {}) || !Array.isArray(changed ?? []) || !((changed ?? []) as unknown[]).every(isText)) return undefined;
	return { ...json, id, data: { ...data, previous: previous ?? null, changed: changed ?? [] } } as CrmEvent;
}

export const deliveredEvent = (body: Buffer): CrmEvent | undefined => parseEvent(parseJson(body.toString('utf8')));

/** Whether the record was permanently deleted, at the event or later: only its ID is left. */
export const isErased = ({ data }: CrmEvent): boolean => data.erased === true;

/** The record before and after an event. */
export function statesOf({ type, data: { object, previous } }: CrmEvent): IDataObject[] {
	if (previous === null) {
		// Without previous values, the record may have had any.
		return type.endsWith('.created') || type.endsWith('.deleted') ? [object] : [object, {}];
	}
	const before = { ...object, ...previous };
	const [customValues, previousValues] = [object[allCustomFields], previous[allCustomFields]];
	if (isObject(customValues) && isObject(previousValues)) before[allCustomFields] = { ...customValues, ...previousValues };
	return [before, object];
}

/** Whether an event type matches a pattern: the type itself, or with a wildcard, `deal.*` or `*`. */
export const matchesEventPattern = (pattern: string, type: string): boolean =>
	pattern === type || (pattern.endsWith('*') && type.startsWith(pattern.slice(0, -1)));

export interface EventMeaning {
	/** The record type as outputs name it: `contact`; `custom.cars` for a custom object. */
	typeName: string;
	/** The collection of its records: `/contacts`, `/custom-objects/cars/records`. */
	collection: Collection;
	/** The collection before keys are filled in: `/custom-objects/{key}/records`. */
	template: Collection;
	/** The change; absent for an event that accompanies another one, such as `deal.won`. */
	change?: 'created' | 'updated' | 'deleted';
}

/** The meaning of an event type; undefined if the service does not describe the type. */
export function meaningOfType({ types }: EventCatalog, type: string): EventMeaning | undefined {
	const ownCollection = types.find((described) => described.type === type)?.collection;
	if (ownCollection !== undefined) return meaningFrom(type, ownCollection, ownCollection);
	for (const { type: template, collection } of types) {
		const [before = '', after] = template.split(/\{\w+\}/);
		if (collection === undefined || after === undefined || !type.startsWith(before) || !type.endsWith(after)) continue;
		const key = type.slice(before.length, type.length - after.length);
		if (!/^[^./]+$/.test(key)) continue;
		return meaningFrom(type, collection.replace(/\{\w+\}/, () => encodeURIComponent(key)) as Collection, collection);
	}
	return undefined;
}

/** The types of the events that report a change of a collection's records: `custom.cars.updated` from `custom.{key}.updated`. */
export function eventTypesOf(catalog: EventCatalog, collection: Collection, change: EventMeaning['change']): string[] {
	const types = catalog.types.map(({ type, collection: template = '' }) => {
		const key = collection.split('/')[template.split('/').findIndex((part) => part.startsWith('{'))] ?? '';
		return type.replace(/\{\w+\}/, () => decodeURIComponent(key));
	});
	return types.filter((type) => {
		const meaning = meaningOfType(catalog, type);
		return meaning?.collection === collection && meaning.change === change;
	});
}

/** The meaning of each pattern, such as `deal.*`; undefined if it concerns several record types. */
export const meaningsOfPatterns = (patterns: string[], catalog: EventCatalog): Array<EventMeaning | undefined> =>
	patterns.map((pattern) => meaningOfType(catalog, pattern.replace(/\*$/, 'updated')));

/** The meaning of patterns that concern one record type; undefined for several, and for types that are not described. */
export function commonMeaning(patterns: string[], catalog: EventCatalog): EventMeaning | undefined {
	const [first, ...others] = meaningsOfPatterns(patterns, catalog);
	return others.every((meaning) => meaning?.collection === first?.collection) ? first : undefined;
}

function meaningFrom(type: string, collection: Collection, template: Collection): EventMeaning {
	const [, typeName = type, verb = ''] = /^(.+)\.([^.]+)$/.exec(type) ?? [];
	const change = (['created', 'updated', 'deleted'] as const).find((candidate) => candidate === verb.replace(/^erased$/, 'deleted'));
	return { typeName, collection, template, ...(change && { change }) };
}
