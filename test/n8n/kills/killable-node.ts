import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Setup } from '../../support/node-context.ts';

/** An import of a CSV file that the process stores in n8n's binary store first. */
export interface ImportInput extends Pick<Setup, 'credential'> {
	executionId: string;
	csv: string;
	/** The folder of the binary store. */
	folder: string;
	options: { writeOncePer: string };
}

/** Starts an import in a process of its own, which can be killed. */
export const startImport = (input: ImportInput): ChildProcess =>
	spawn(process.execPath, [join(__dirname, 'from-sources.cjs'), join(__dirname, 'import-process.ts'), JSON.stringify(input)], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});

/** The output of a process once it has ended; undefined if it fails. */
export async function outputOf(child: ChildProcess): Promise<string | undefined> {
	const output: Buffer[] = [];
	child.stdout!.on('data', (chunk: Buffer) => output.push(chunk));
	const [code] = await once(child, 'close');
	return code === 0 ? Buffer.concat(output).toString() : undefined;
}
