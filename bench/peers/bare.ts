import https from 'node:https';
import { bareContacts, sendBatches } from '../bare-loop.ts';
import { serverAt } from '../server-process.ts';
import type { PeerTask } from './subjects.ts';

/** A few lines of script that do what the connector does, over kept-alive connections. */
export function bareLoop(): (task: PeerTask, items: object[]) => Promise<unknown[]> {
	const server = serverAt('https://api.bare-loop.example', https);
	return async (task, items) => {
		// Connections are kept alive within a run: the next run may use another server.
		server.closeConnections();
		return task === 'list' ? await bareContacts(server, 'limit=500') : await sendBatches(server, `/v1/contacts/batch/${task}`, items);
	};
}
