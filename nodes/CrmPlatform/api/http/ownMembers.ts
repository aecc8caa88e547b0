import type { IDataObject } from 'n8n-workflow';

/** The value of a member; undefined for what every object inherits, such as `constructor` and `toString`. */
export function ownMember(object: IDataObject, name: string): unknown {
	return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets a member, whatever its name: an assignment to `__proto__` would be lost. */
export function setMember(object: object, name: string, value: unknown): void {
	if (name in object && !Object.hasOwn(object, name)) {
		Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
	} else (object as IDataObject)[name] = value as IDataObject;
}
