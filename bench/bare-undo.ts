import { bareContacts } from './bare-loop.ts';
import type { Server } from './server-process.ts';

export interface FormerValues {
	id: string;
	job_title: string | null;
	lead_source: string | null;
}

/** All contacts of the service. */
export const readFormerValues = async (server: Server) =>
	((await bareContacts(server, 'limit=500&sort=id&fields=job_title,lead_source')) as FormerValues[]).map(
		({ id, job_title, lead_source }): FormerValues => ({ id, job_title, lead_source }),
	);
