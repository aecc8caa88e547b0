import { runGroup } from './child.mjs';

/**
 * Runs a script under this version of Node.js, with the output of this process.
 *
 * @param args the script and its arguments
 * @param env its environment; by default that of this process
 * @returns whether it succeeded
 */
export async function runNode(args: string[], env = process.env): Promise<boolean> {
	const stdio = ['ignore' as const, 'inherit' as const, 'inherit' as const];
	const code = await runGroup(process.execPath, args, { env, stdio });
	return code === 0;
}
