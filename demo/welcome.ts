import { demoMembers } from '../sandbox/seed/demo-members.ts';
import type { State } from './state.ts';
import { oauth2CredentialName, ownerEmail, type Workspace } from './workspace.ts';

/** The addresses and passwords that a user needs once everything runs, in a box. */
export function welcome(demo: {
	n8nUrl: string;
	sandboxUrl: string;
	state: State;
	workspace: Workspace;
}): string {
	const { n8nUrl, sandboxUrl, state, workspace } = demo;
	return box([
		'The CRM Platform node is ready in n8n.',
		'',
		`Open       ${n8nUrl}`,
		`Email      ${ownerEmail}`,
		...(workspace === 'ready'
			? [`Password   ${state.password}`, 'Try        the workflow "List contacts"']
			: [
					'Password   the one you have set in n8n; since it is unknown here, the',
					'           credentials and the examples were not updated',
				]),
		'',
		`Sandbox    ${sandboxUrl}`,
		`API key    ${state.apiKey}`,
		`Sign in    open the credential "${oauth2CredentialName}" and connect it as`,
		...demoMembers.map(({ email, password }) => `           ${email} / ${password}`),
		'',
		'Data       .demo in this folder (npm start -- --fresh starts over)',
		"n8n's log  .demo/n8n.log",
		'Stop       Ctrl-C',
	]);
}

function box(lines: string[]): string {
	const width = Math.max(...lines.map((line) => line.length));
	const edge = '─'.repeat(width + 4);
	const rows = lines.map((line) => `│  ${line.padEnd(width)}  │`);
	return [`┌${edge}┐`, ...rows, `└${edge}┘`].join('\n');
}
