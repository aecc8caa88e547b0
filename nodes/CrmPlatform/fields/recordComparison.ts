import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { ownMember, setMember } from '../base/ownMembers';
import { isBlank, hasOnlyBlanks } from '../values/blank';
import { rfc3339 } from '../values/dates';
import { isPlainText, valueShape } from './fieldKinds';
import { canonicalForm, type ComparedField } from './keys';

/** One value that differs between what is wanted and what the CRM has. */
export interface DifferingValue {
	/** The name of the field, dotted if it is part of an object: `address.city`. */
	field: string;
	/** Null if the CRM has none. */
	from: unknown;
	to: unknown;
}

export interface Difference {
	changes: DifferingValue[];
	/** A merge patch (RFC 7396) with the values that differ, and no others. */
	patch: IDataObject;
}

/**
 * Compares the values of records as `coversValue` does: only values that are wanted count, also within objects and the
 * objects of a list. Fields are named as in `DifferingValue`.
 */
export class RecordComparison {
	private readonly fields: ReadonlyMap<string, ComparedField>;
	private readonly areWhole: boolean;

	/**
	 * @param fields the fields that records are written with
	 * @param areWhole whether a wanted value is to be all that its field has: JSON is one value then, and what only the stored
	 * list or JSON has counts, too
	 */
	constructor(fields: ComparedField[], areWhole = false) {
		this.fields = new Map(fields.map((field) => [field.path.join('.'), field]));
		this.areWhole = areWhole;
	}

	/** @param isChosen whether a field counts @param prefix what the names of the values begin with */
	difference(stored: unknown, target: IDataObject, isChosen: (field: string) => boolean = () => true, prefix = ''): Difference {
		const changes: DifferingValue[] = [];
		const patch: IDataObject = {};
		for (const [key, value] of Object.entries(target)) {
			if (value === undefined) continue;
			const name = prefix + key;
			const described = this.fields.get(name);
			const current = isObject(stored) ? ownMember(stored, key) : undefined;
			const isOneValue = this.areWhole && described !== undefined && valueShape(described) === 'object';
			if (isObject(value) && !isOneValue) {
				const inner = this.difference(current, value, isChosen, `${name}.`);
				if (inner.changes.length > 0) setMember(patch, key, inner.patch);
				changes.push(...inner.changes);
			} else if (isChosen(name) && !(this.areWhole ? this.isSame(name, current, value) : this.covers(name, current, value))) {
				changes.push({ field: name, from: current ?? null, to: value });
				setMember(patch, key, value);
			}
		}
		return { changes, patch };
	}

	covers(name: string, stored: unknown, target: unknown): boolean {
		const field = this.fieldAround(name);
		return coversValue(field, stored, target, name.slice((field?.path.join('.') ?? name).length + 1));
	}

	isSame(name: string, a: unknown, b: unknown): boolean {
		return this.covers(name, a, b) && this.covers(name, b, a);
	}

	/** The field of this name, or the one that it is part of. */
	private fieldAround(name: string): ComparedField | undefined {
		return this.fields.get(name) ?? (name.includes('.') ? this.fieldAround(name.slice(0, name.lastIndexOf('.'))) : undefined);
	}
}

/**
 * Whether two values of a field are the same for the service: all blanks are, two notations of a number, an instant or a web
 * address, texts in another case where the service stores lower case, and an id as a number and as text. The order of a list of
 * plain values does not count; that of a list of objects, or within JSON, does.
 */
export const sameValue = (field: ComparedField | undefined, a: unknown, b: unknown): boolean =>
	a === b || (coversValue(field, a, b) && coversValue(field, b, a));

/**
 * Whether a value has all that another one has, as in a merge patch (RFC 7396): members that only it has do not
 * count, also within the objects of a list.
 *
 * @param field undefined if it is not described
 * @param within the place of the values in their field: empty for the field's own value, `*.value` in a list of objects
 */
export function coversValue(field: ComparedField | undefined, value: unknown, required: unknown, within = ''): boolean {
	if (isBlank(required)) return hasOnlyBlanks(value);
	if (Array.isArray(required)) {
		if (!Array.isArray(value)) return false;
		const place = within === '' ? '*' : `${within}.*`;
		if (within === '' && isUnordered(field) && ![value, required].flat().some((element) => typeof element === 'object')) {
			const setOf = (list: unknown[]) => new Set(list.map((element) => comparableForm(field, element, place)));
			const [has, needs] = [setOf(value), setOf(required)];
			return has.size === needs.size && [...needs].every((element) => has.has(element));
		}
		return value.length === required.length && required.every((element, i) => coversValue(field, value[i], element, place));
	}
	if (isObject(required)) {
		const inner = (name: string) => (within === '' ? name : `${within}.${name}`);
		return Object.entries(required).every(
			([name, member]) =>
				member === undefined || coversValue(field, isObject(value) ? ownMember(value, name) : undefined, member, inner(name)),
		);
	}
	return comparableForm(field, value, within) === comparableForm(field, required, within);
}

/** Whether the order of a field's values has no meaning: JSON may be coordinates. */
export const isUnordered = (field: ComparedField | undefined): boolean => field !== undefined && valueShape(field) === 'list';

/** What equal values that are neither lists nor objects have in common. */
function comparableForm(field: ComparedField | undefined, value: unknown, within: string): unknown {
	const plain = canonicalForm(value, field, within);
	// Services write an id as a number or as text.
	const isId = field?.target !== undefined || (field?.linksTo !== undefined && /(^|\.)id$/.test(within));
	if (isId && typeof plain === 'number') return String(plain);
	const isInstant = !(field && isPlainText(field)) && typeof plain === 'string' && rfc3339.test(plain);
	return isInstant ? Date.parse(plain) : plain;
}
