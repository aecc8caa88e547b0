import { canonicalText, hasSameValue, isObject } from '../../base/json';
import { wholeNumber } from '../../base/numbers';
import { defined } from '../../base/ownMembers';
import { labelFor, unknownCollection, type Field } from '../../fields/field';
import { fieldKinds } from '../../fields/fieldKinds';
import { collectionName, type Collection } from '../http/path';

/** A field that links a record to others; a field that links to several collections has a Link for each. */
export interface Link {
	/** Its name in stored workflows: `company_id`, `links: contacts`. */
	name: string;
	label: string;
	/** The field that holds the ids. */
	field: Field;
	/** The collection of the other record. */
	target: Collection;
	/** The member of the other record whose items can be chosen, such as a pipeline's `stages`. */
	part?: string;
	isOneOfMany: boolean;
	valueFor(id: unknown): unknown;
}

export function linksOf(fields: Field[]): Link[] {
	return fields.flatMap((field): Link[] => {
		const { name, label, kind, target, part, linksTo = [] } = field;
		if (target !== undefined) {
			const isOneOfMany = fieldKinds[kind].shape === 'list';
			return [defined({ name, label, field, target, part, isOneOfMany, valueFor: (id: unknown) => id })];
		}
		return linksTo.map((linked) => {
			const resource = collectionName(linked);
			return {
				name: `${name}: ${resource}`,
				label: `${label}: ${labelFor(resource)}`,
				field,
				target: linked,
				isOneOfMany: true,
				valueFor: (id) => ({ resource, id }),
			};
		});
	});
}

/** What a field links to: records, `/companies`, or their parts, `/pipelines.stages`; undefined for no or several collections. */
export const linkTarget = ({ target, part }: Pick<Field, 'target' | 'part'>): Collection | undefined =>
	part === undefined ? target : `${target!}.${part}`;

/** The collection of a target and, for parts, the member that lists them. */
export const collectionAndPart = (target: Collection): [Collection, part?: string] => target.split('.') as [Collection, string?];

/** Whether the values of a field are ids of other records, not of their parts. */
export const isRecordLink = (field: Field): boolean => isLink(field) && field.part === undefined;

/** Whether the values of a field are known to be ids of other records, or of their parts. */
export const isLink = ({ target = unknownCollection, linksTo }: Field): boolean =>
	target !== unknownCollection || linksTo !== undefined;

/** A copy of a link's value with new ids. @param replace takes what an id is of, `/companies` or `/pipelines.stages`, and the id */
export function withReplacedIds(field: Field, value: unknown, replace: (target: Collection, id: unknown) => unknown): unknown {
	if (value === null || value === undefined) return value;
	const target = linkTarget(field);
	const all = (convert: (item: unknown) => unknown) => (Array.isArray(value) ? value.map(convert) : convert(value));
	if (target !== undefined) return all((id) => replace(target, id));
	return all((link) => {
		if (!isObject(link) || typeof link.resource !== 'string') return link;
		const linked = `/${link.resource}` as const;
		return field.linksTo?.includes(linked) ? { ...link, id: replace(linked, link.id) } : link;
	});
}

/** The ids in the value of a link, and what each is of: `/companies`, `/pipelines.stages`. */
export function linkedIdsIn(field: Field, value: unknown): Array<[target: Collection, id: unknown]> {
	const ids: Array<[Collection, unknown]> = [];
	withReplacedIds(field, value, (target, id) => void ids.push([target, id]));
	return ids;
}

/** The new id in place of an old one, which stays if there is none. A number is replaced by a number, unless it would be rounded. */
export const withNewId = (id: unknown, newId: string | undefined): unknown =>
	(typeof id === 'number' ? wholeNumber(newId) : undefined) ?? newId ?? id;

/** Whether a change has put one record in the place of another in a link, so that the log shows which record is kept. */
export const isLinkMoved = (from: unknown, to: unknown, loser: string, survivor: string): boolean =>
	canonicalText(from).replaceAll(JSON.stringify(loser), JSON.stringify(survivor)) === canonicalText(to) && !hasSameValue(from, to);
