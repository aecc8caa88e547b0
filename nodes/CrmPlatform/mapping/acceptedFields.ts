import type { Field } from '../api/openapi/fields';
import type { Execution } from '../model';
import { collectionPath } from './picked';

/** What an item can give values for. */
export interface AcceptedFields {
	fields: Field[];
	/** Names of what records come with: those that are no fields the service alone fills in. */
	recordNames: ReadonlySet<string>;
}

/** @throws Error in the user's words where it cannot be known for this item */
export type AcceptedFieldsOf = (item: number) => AcceptedFields;

/**
 * Reads what items can give values for where it depends on the collection they are about: items may
 * be about several, such as records of custom objects. Each is read once; what fails is a failure of
 * the items about it, and of no others.
 *
 * @param needs whether it matters for an item; `otherwise` applies to those for which it does not
 */
export async function acceptedFieldsByCollection(
	job: Execution,
	read: (collection: string) => Promise<AcceptedFields>,
	otherwise: AcceptedFields,
	needs: (item: number) => boolean,
): Promise<AcceptedFieldsOf> {
	const reading = new Map<string, Promise<AcceptedFields>>();
	const ofItem = async (item: number): Promise<AcceptedFields> => {
		if (!needs(item)) return otherwise;
		const path = collectionPath(job, item);
		const known = reading.get(path) ?? read(path);
		reading.set(path, known);
		return await known;
	};

	const taken: Array<AcceptedFields | Error> = [];
	for (const item of job.n8n.getInputData().keys()) {
		taken.push(await ofItem(item).catch((error: Error) => error));
	}
	return (item) => {
		const found = taken[item] ?? otherwise;
		if (found instanceof Error) throw found;
		return found;
	};
}
