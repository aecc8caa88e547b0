import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder for the tests of a file, which is removed after them. */
export function useFolderOfFile(): string {
	const folder = mkdtempSync(join(tmpdir(), 'test-'));
	afterAll(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

/** Gives each test a new folder, which is removed afterwards. Returns the function that gives a path in it. */
export function useFolder(): (...parts: string[]) => string {
	let folder: string;
	beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'test-'))));
	afterEach(() => rmSync(folder, { recursive: true, force: true }));
	return (...parts) => join(folder, ...parts);
}
