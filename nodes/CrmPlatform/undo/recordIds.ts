import { idText, scalarsIn } from '../base/json';

/** Identifies a record among the records of all types. */
export const recordKey = ({ collection, id }: { collection: string; id: string }): string => `${collection}/${id}`;

/** Identifies the record that a link names. @param collection of the other record, such as `companies` */
export const linkKey = (collection: string, id: unknown): string => recordKey({ collection: `/${collection}`, id: idText(id) ?? '' });

/** All values within a value that may be ids. */
export const possibleIdsIn = (value: unknown): string[] => scalarsIn(value).flatMap((scalar) => idText(scalar) ?? []);

/** Whether an id consists of digits, so that any number may equal it. */
export const isNumericId = (id: string): boolean => /^\d+$/.test(id);

/** The new id in place of an old one, which stays if there is none. A number is replaced by a number. */
export const withNewId = (id: unknown, newId: string | undefined): unknown =>
	newId !== undefined && typeof id === 'number' && isNumericId(newId) ? Number(newId) : (newId ?? id);
