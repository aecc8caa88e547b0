import { runGroup } from './child.mjs';

/**
 * Runs a script under this Node, its output in the same place as ours.
 *
 * @param args the script and its arguments.
 * @returns whether it succeeded.
 */
export async function runNode(args: string[]): Promise<boolean> {
	const code = await runGroup(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
	return code === 0;
}
