import type { IDataObject } from 'n8n-workflow';

import { runSync, syncOf } from '../../support/sync-node.ts';
import { plainDialect, type SyncDialect } from './sync-document.ts';
import { useSyncServices, type SyncService } from './sync-service.ts';

export type Handle = SyncService['handle'];

/** For tests of a sync of contacts that deletes those that the items do not have. */
export function useMirrors() {
	const openService = useSyncServices();

	/**
	 * A service with a contact for each key, and the sync.
	 *
	 * @param alter changes how the service answers
	 */
	return (
		keys: string[], dialect: Partial<SyncDialect> = {}, alter: (handle: Handle, service: SyncService) => Handle = (handle) => handle,
	) => {
		const { service, url } = openService({ ...plainDialect, ...dialect });
		for (const key of keys) service.add({ external_id: key, last_name: key, team: 'in' });
		service.handle = alter(service.handle.bind(service), service);
		const stored = (field: string) => [...service.records.values()].map((record) => record[field]);
		const run = async (items: IDataObject[], more: IDataObject = {}, setup = {}) =>
			await runSync({
				credential: { baseUrl: url, apiKey: url },
				credentialId: url,
				items,
				continueOnFail: true,
				parameters: syncOf('contact', { missingInSource: 'delete', maxDeletionsShare: 100, ...more }),
				...setup,
			});
		return { run, service, storedKeys: () => stored('external_id'), names: () => stored('last_name') };
	};
}
