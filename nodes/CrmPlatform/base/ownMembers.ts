import type { IDataObject } from 'n8n-workflow';

/** The value of a member; undefined for inherited members, such as `constructor` and `toString`. */
export function ownMember<T>(object: Readonly<Record<string, T>>, name: string): T | undefined {
	return Object.hasOwn(object, name) ? object[name] : undefined;
}

const inheritedNames = new Set(Object.getOwnPropertyNames(Object.prototype));

/** Sets a member, whatever its name: an assignment to `__proto__` would be lost. */
export function setMember(object: object, name: string, value: unknown): void {
	if (inheritedNames.has(name) && !Object.hasOwn(object, name)) {
		Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
	} else (object as IDataObject)[name] = value as IDataObject;
}

export function withoutMembers<T extends object, Name extends keyof T>(object: T, ...names: Name[]): Omit<T, Name> {
	const copy = { ...object };
	for (const name of names) delete copy[name];
	return copy;
}

type Defined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
	[Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** A copy of an object that lacks its undefined members. */
export const defined = <T extends object>(object: T): Defined<T> =>
	Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;

/** Whether a value is a plain object: not a list, a Date or a DateTime. */
export function isPlainObject(value: unknown): value is object {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	// Accepts any realm: n8n evaluates expressions in a separate one.
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The value at a path of members; undefined if a member is missing, or the path leads through a list. */
export function memberAtPath(object: unknown, path: readonly string[]): unknown {
	const memberOf = (value: unknown, name: string) =>
		(typeof value === 'object' && value !== null && !Array.isArray(value) ? ownMember(value as IDataObject, name) : undefined);
	return path.reduce(memberOf, object);
}

/** The steps of a JSON pointer (RFC 6901), such as `/address/country`, with or without `#`. */
export const pointerSteps = (pointer: string): string[] =>
	pointer.replace(/^#?\//, '').split('/').map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~'));

/** A copy of an object with a different value at a path of members. */
export function withMemberAtPath(object: IDataObject | undefined, [name = '', ...rest]: readonly string[], value: unknown): IDataObject {
	const copy = { ...object };
	setMember(copy, name, rest.length === 0 ? value : withMemberAtPath(ownMember(copy, name) as IDataObject | undefined, rest, value));
	return copy;
}

/** Sets the member at a path and creates missing objects. A whole object does not replace members set individually. */
export function setAtPath(body: IDataObject, path: string[], value: unknown): void {
	const key = path[0] ?? '';
	if (path.length <= 1) {
		const parts = ownMember(body, key);
		if (!isPlainObject(parts)) setMember(body, key, value);
		// Nor does an empty value remove them.
		else if (value !== null) setMember(body, key, isPlainObject(value) ? { ...value, ...parts } : value);
		return;
	}
	// A copy: the object may be part of the item.
	const inner = { ...(ownMember(body, key) as IDataObject | undefined) };
	setMember(body, key, inner);
	setAtPath(inner, path.slice(1), value);
}

/** An object whose members are read on first use. */
export function lazily<T extends object>(readers: { [Name in keyof T]-?: () => T[Name] | undefined }): T {
	const object = {} as T;
	for (const name of Object.keys(readers) as Array<keyof T>) {
		const get = () => {
			const value = readers[name]();
			Object.defineProperty(object, name, { value, enumerable: true });
			return value;
		};
		Object.defineProperty(object, name, { get, configurable: true, enumerable: true });
	}
	return object;
}
