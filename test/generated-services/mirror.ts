import type { IDataObject } from 'n8n-workflow';

import { runSync, syncOf } from '../integration/harness/sync-node.ts';
import type { SyncService } from './sync-service.ts';

/** A sync of contacts to the service at an address, which deletes those that the items do not have. */
export const mirrorTo = (url: string) =>
	async (items: IDataObject[], more: IDataObject = {}, setup = {}) =>
		await runSync({
			credential: { baseUrl: url, apiKey: url },
			credentialId: url,
			items,
			continueOnFail: true,
			parameters: syncOf('contact', { missingInSource: 'delete', maxDeletionsShare: 100, ...more }),
			...setup,
		});

export const keysIn = ({ records }: SyncService) => [...records.values()].map(({ external_id: key }) => key);
