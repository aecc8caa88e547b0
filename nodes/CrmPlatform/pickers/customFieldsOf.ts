import type { Connection } from '../api/connection';
import { readCustomFieldsIfAllowed } from '../api/customFields';
import type { Field } from '../fields/field';

/** The custom fields that can be written; undefined, and a notice, if they cannot be read. */
export async function customFieldsOf(api: Connection, collection: string): Promise<Field[] | undefined> {
	const custom = await readCustomFieldsIfAllowed(api, collection).catch((error: Error) => {
		api.notices.add(`Custom fields could not be loaded (${error.message})`);
		return undefined;
	});
	return custom?.fields;
}
