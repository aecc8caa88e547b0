import type { IDataObject } from 'n8n-workflow';

import type { Operation } from '../model';

/**
 * Reads the one record at a path of its own, such as the user the credential belongs to.
 *
 * @param action what n8n's list of actions says, such as `Get the current user`
 * @param path from the service's address on, without version prefix
 */
export function getFixed(
	action: string,
	path: `/${string}`,
	option: Pick<Operation['option'], 'name' | 'value' | 'description'>,
): Operation {
	return {
		option: { ...option, action },
		properties: () => [],
		prepare:
			async ({ api }) =>
			async () => {
				const { body } = await api.send({ method: 'GET', path: `/v1${path}` });
				return (body ?? {}) as IDataObject;
			},
	};
}
