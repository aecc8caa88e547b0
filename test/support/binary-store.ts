import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IBinaryData } from 'n8n-workflow';

import { useFolderOfFile } from './temporary-folder.ts';

export type BinaryStore = ReturnType<typeof binaryStoreIn>;

/** One store for the tests of a file. */
export function useBinaryStore(): BinaryStore {
	const store = binaryStoreIn(useFolderOfFile());
	beforeAll(store.init);
	return store;
}

/** n8n's binary store, in files in a folder; call init() first. */
export function binaryStoreIn(folder: string) {
	const service = Container.get(BinaryDataService);

	const bytes = async (file: IBinaryData | undefined): Promise<Buffer> => {
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
		async put(content: string | Buffer, fileName = 'contacts.csv'): Promise<IBinaryData> {
			const location = { type: 'execution', workflowId: 'workflow-1', executionId: 'before' } as const;
			const data: IBinaryData = { data: '', mimeType: 'text/csv', fileName };
			return await service.store(location, Buffer.from(content), data);
		},
		text: async (file: IBinaryData | undefined) => (await bytes(file)).toString('utf8'),
	};
}
