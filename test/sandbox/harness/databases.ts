import { join } from 'node:path';
import { useFolderOfFile } from '../../support/temporary-folder.ts';

let count = 0;
const folder = useFolderOfFile();

/** The path of a database that does not exist yet. It is removed after the tests of the file. */
export const newDatabase = (): string => join(folder, `${count++}.db`);
