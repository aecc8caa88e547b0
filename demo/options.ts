import { parseArgs } from 'node:util';
import { Failure } from '../tools/failure.mjs';

export const helpText = `Usage: npm start [-- --fresh]

Starts n8n with this package installed, and a sandbox of the CRM service. Both are reachable from
this machine only. Missing programs are installed first. Data is kept in .demo between starts.

  --fresh   starts over: everything in .demo is deleted first
  --help    shows this`;

export interface Options {
	fresh: boolean;
	help: boolean;
}

/**
 * Reads the command line of npm start.
 *
 * @throws {Failure} if it has unknown options
 */
export function parseOptions(args: string[]): Options {
	try {
		const { values } = parseArgs({
			args,
			options: {
				fresh: { type: 'boolean', default: false },
				help: { type: 'boolean', default: false },
			},
		});
		return values;
	} catch (error) {
		throw new Failure(`${error instanceof Error ? error.message : error}\n\n${helpText}`);
	}
}
