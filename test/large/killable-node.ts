import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Setup } from '../../tools/node-context.ts';

/** An import of a CSV file, which the process puts into n8n's binary store first. */
export interface ImportRun extends Pick<Setup, 'credential'> {
	executionId: string;
	csv: string;
	/** The folder of the binary store. */
	folder: string;
	options: { writeOncePer: string };
}

/** Starts a run of CRM Platform, or an import, in a process of its own, which can be killed. */
export function startNodeProcess(...[name, input]: ['node', Setup] | ['import', ImportRun]): ChildProcess {
	const script = join(__dirname, `${name}-process.ts`);
	return spawn(process.execPath, [join(__dirname, 'from-sources.cjs'), script, JSON.stringify(input)], {
		stdio: ['ignore', 'pipe', 'inherit'],
	});
}

/** What a process prints until it ends; undefined if it fails. */
export async function outputOf(child: ChildProcess): Promise<string | undefined> {
	const output: Buffer[] = [];
	child.stdout!.on('data', (chunk: Buffer) => output.push(chunk));
	const [code] = await once(child, 'close');
	return code === 0 ? Buffer.concat(output).toString() : undefined;
}

/** What the test has passed to this process. */
export const inputOfProcess = <Input>(): Input => JSON.parse(process.argv[3]!) as Input;

/** Prints what the work gives, and ends the process, whose n8n-core has timers left. */
export function endWith(work: Promise<string>): void {
	work.then(
		(result) => process.stdout.write(result, () => process.exit()),
		(error: unknown) => {
			console.error(error);
			process.exit(1);
		},
	);
}
