import type { EventCatalog } from './openapi/eventTypes';

/** The meaning of an event type: the record type and the change. */
export interface EventMeaning {
	/** `contact`; `custom.cars` for the records of a custom object. */
	recordType: string;
	/** Path of its records, without version prefix: `/contacts`, `/custom-objects/cars/records`. */
	collection: string;
	/** The path before keys are filled in: `/custom-objects/{key}/records`. */
	template: string;
	/** The change; absent for an event that accompanies another one, such as `deal.won`. */
	change?: 'created' | 'updated' | 'deleted';
}

/** Returns a function that finds the meaning of an event type; undefined if the service does not describe the type. */
export function meaningOfTypes({ types }: EventCatalog): (type: string) => EventMeaning | undefined {
	const described = types.flatMap(({ type, collection }) => (collection === undefined ? [] : [{ type, collection }]));
	const literalTypes = new Map(described.map(({ type, collection }) => [type, meaningFrom(type, collection, collection)]));
	const templates = described.filter(({ type }) => type.includes('{'));
	const meanings = new Map<string, EventMeaning | undefined>();
	const fromTemplate = (type: string): EventMeaning | undefined => {
		for (const { type: template, collection } of templates) {
			const [before = '', after = ''] = template.split(/\{\w+\}/);
			const key = type.slice(before.length, type.length - after.length);
			if (!type.startsWith(before) || !type.endsWith(after) || !/^[^./]+$/.test(key)) continue;
			return meaningFrom(type, collection.replace(/\{\w+\}/, () => encodeURIComponent(key)), collection);
		}
		return undefined;
	};
	return (type) => {
		if (!meanings.has(type)) meanings.set(type, literalTypes.get(type) ?? fromTemplate(type));
		return meanings.get(type);
	};
}

function meaningFrom(type: string, collection: string, template: string): EventMeaning {
	const [, recordType = type, verb = ''] = /^(.+)\.([^.]+)$/.exec(type) ?? [];
	const change = (['created', 'updated', 'deleted'] as const).find((candidate) => candidate === verb);
	return { recordType, collection, template, ...(change && { change }) };
}
