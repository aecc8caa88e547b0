import type { EventCatalog } from '../api/openapi/eventTypes';

/** What an event says of a record. */
export interface EventMeaning {
	/** `contact`; `custom.cars` for the records of a custom object. */
	kind: string;
	/** Path of its records, without version prefix: `/contacts`, `/custom-objects/cars/records`. */
	collection: string;
	/** The same with the names of its parents in braces: `/custom-objects/{key}/records`. */
	template: string;
	/** Absent for an event that comes beside one of these, such as `deal.won`. */
	change?: 'created' | 'updated' | 'deleted';
}

/** Tells the meaning of a type of event; undefined where the service does not describe it. */
export function meaningOfTypes({ types }: EventCatalog): (type: string) => EventMeaning | undefined {
	const described = types.flatMap(({ type, collection }) => (collection === undefined ? [] : [{ type, collection }]));
	const plain = new Map(described.map(({ type, collection }) => [type, meaning(type, collection, collection)]));
	const templates = described.filter(({ type }) => type.includes('{'));
	const meanings = new Map<string, EventMeaning | undefined>();
	const filled = (type: string): EventMeaning | undefined => {
		for (const { type: template, collection } of templates) {
			const [before = '', after = ''] = template.split(/\{\w+\}/);
			const key = type.slice(before.length, type.length - after.length);
			if (!type.startsWith(before) || !type.endsWith(after) || !/^[^./]+$/.test(key)) continue;
			return meaning(type, collection.replace(/\{\w+\}/, () => encodeURIComponent(key)), collection);
		}
		return undefined;
	};
	return (type) => {
		if (!meanings.has(type)) meanings.set(type, plain.get(type) ?? filled(type));
		return meanings.get(type);
	};
}

function meaning(type: string, collection: string, template: string): EventMeaning {
	const [, kind = type, verb = ''] = /^(.+)\.([^.]+)$/.exec(type) ?? [];
	const change = (['created', 'updated', 'deleted'] as const).find((candidate) => candidate === verb);
	return { kind, collection, template, ...(change && { change }) };
}
