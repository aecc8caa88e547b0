import type { Connection } from '../api/connection';
import { readCustomFieldsIfAllowed, type CustomFields } from '../api/customFields';

/** Reads the custom fields. If they cannot be read, it adds a notice and returns undefined. */
export async function customFieldsOf(api: Connection, collection: string): Promise<CustomFields | undefined> {
	return await readCustomFieldsIfAllowed(api, collection).catch((error: Error) => {
		api.notices.add(`Custom fields could not be loaded (${error.message})`);
		return undefined;
	});
}
