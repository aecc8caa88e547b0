import { readRecord } from '../api/record';
import type { Operation } from '../model';
import { eachItem } from '../schedule';

/**
 * Reads the one record at a fixed path, such as the user the credential belongs to.
 *
 * @param action the entry in n8n's list of actions, such as `Get current user`
 * @param path without version prefix
 */
export function getFixed(
	action: string,
	path: `/${string}`,
	option: Pick<Operation['option'], 'name' | 'value' | 'description'>,
): Operation {
	return {
		option: { ...option, action },
		properties: () => [],
		prepare: ({ api }) => eachItem(async () => await readRecord(api, `/v1${path}`)),
	};
}
