import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { ownMember, setMember } from '../base/ownMembers';
import { valueShape } from './fieldKinds';
import type { ComparedField } from './keys';
import { coversValue } from './same';

/** One value that differs between what is wanted and what the CRM has. */
export interface DifferingValue {
	/** The name of the field, dotted if it is part of an object: `address.city`. */
	field: string;
	/** The value in the CRM; null if it has none. */
	from: unknown;
	/** The wanted value. */
	to: unknown;
}

/** The difference between a record and the wanted values. */
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

	/** Whether the value of a field has all that is wanted. */
	covers(name: string, stored: unknown, target: unknown): boolean {
		const field = this.fieldAround(name);
		return coversValue(field, stored, target, name.slice((field?.path.join('.') ?? name).length + 1));
	}

	/** Whether two values of a field have all of each other. */
	isSame(name: string, a: unknown, b: unknown): boolean {
		return this.covers(name, a, b) && this.covers(name, b, a);
	}

	/** The field of this name, or the one that it is part of. */
	private fieldAround(name: string): ComparedField | undefined {
		return this.fields.get(name) ?? (name.includes('.') ? this.fieldAround(name.slice(0, name.lastIndexOf('.'))) : undefined);
	}
}
