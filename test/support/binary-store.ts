import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IBinaryData } from 'n8n-workflow';

import { useFolderOfFile } from './temporary-folder.ts';

/** n8n's binary store, in files. */
export interface BinaryStore {
	put(content: string | Buffer, fileName?: string): Promise<IBinaryData>;
	bytes(file: IBinaryData | undefined): Promise<Buffer>;
	text(file: IBinaryData | undefined): Promise<string>;
}

/** One store for the tests of a file. */
export function useBinaryStore(): BinaryStore {
	const { init, ...store } = binaryStoreIn(useFolderOfFile());
	beforeAll(init);
	return store;
}

/** A store in a folder; call init() first. */
export function binaryStoreIn(folder: string): BinaryStore & { init(): Promise<void> } {
	const service = Container.get(BinaryDataService);

	const bytes: BinaryStore['bytes'] = async (file) => {
		if (file?.id === undefined) throw new Error('The file is not in the store');
		return await service.getAsBuffer(file);
	};

	return {
		async init() {
			const { config } = service as unknown as { config: { mode: string; localStoragePath: string } };
			Object.assign(config, { mode: 'filesystem', localStoragePath: folder });
			await service.init();
		},
		bytes,
		async put(content, fileName = 'contacts.csv') {
			const location = { type: 'execution', workflowId: 'workflow-1', executionId: 'before' } as const;
			const data: IBinaryData = { data: '', mimeType: 'text/csv', fileName };
			return await service.store(location, Buffer.from(content), data);
		},
		text: async (file) => (await bytes(file)).toString('utf8'),
	};
}
