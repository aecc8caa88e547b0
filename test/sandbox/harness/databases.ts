import { join } from 'node:path';
import type { AppOptions } from '../../../sandbox/app.ts';
import { Store } from '../../../sandbox/core/store/store.ts';
import { useFolderOfFile } from '../../support/temporary-folder.ts';
import { type InProcess, inProcess } from './in-process.ts';

const stores: Store[] = [];
let count = 0;

afterAll(() => {
	for (const store of stores) if (!store['closing'].signal.aborted) store.close();
});
// Removed after the stores are closed.
const folder = useFolderOfFile();

/** The path of a database that does not exist yet. It is removed after the tests of the file. */
export const newDatabase = (): string => join(folder, `${count++}.db`);

/** A sandbox in process whose records are in a file. Its store is closed after the tests, unless a test closes it. */
export function onFile(options: Partial<AppOptions> & { contacts?: number } = {}): InProcess & { path: string } {
	const path = newDatabase();
	const store = new Store(path);
	stores.push(store);
	return { ...inProcess({ store, ...options }), path };
}
