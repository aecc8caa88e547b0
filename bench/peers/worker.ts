import type { IDataObject } from 'n8n-workflow';
import { bareLoop } from './bare.ts';
import { contactNumber } from './contacts.ts';
import { loadEngine } from './engine.ts';
import { routeAll } from './route.ts';
import { peers, type Subject, type PeerTask } from './subjects.ts';

/** A worker's only argument, as JSON. */
export interface Start {
	subject: Subject;
	/** The folder in which n8n is installed. */
	n8n: string;
	/** The folder of the built package. */
	ours: string;
}

/** A measurement, requested by message. */
export interface WorkerOrder {
	/** Where the server, or the distance to it, listens. */
	port: number;
	task: PeerTask;
	/** The number of input items, or of a list's expected records. */
	count: number;
}

/** The figures; `error` if the run failed. */
export interface Measured {
	ms: number;
	/** Time of all processors, user and system. */
	cpuMs: number;
	/** The process's peak growth since before the first run, in MB. */
	peakMb: number;
	/** Records that the run returned. */
	records: number;
	error?: string;
}

const { subject, n8n, ours } = JSON.parse(process.argv[2]!) as Start;
const changeRoute = routeAll();
const engine = loadEngine(n8n, ours);
globalThis.gc!();
const before = process.memoryUsage().rss / 1e6;
let run: ((task: PeerTask, items: IDataObject[]) => Promise<{ records: number; error?: string }>) | undefined;

process.on('message', (order: WorkerOrder) => {
	void measured(order).then((result) => process.send!(result));
});
process.on('disconnect', () => process.exit());
process.send!('ready');

async function measured({ port, task, count }: WorkerOrder): Promise<Measured> {
	changeRoute(port);
	const items = task === 'list' ? [{}] : Array.from({ length: count }, (_, i) => itemNumber(i + 1, task));
	globalThis.gc!();
	const usage = process.cpuUsage();
	const start = performance.now();
	// The first run loads the node, as n8n does when it first needs one.
	run ??= runner();
	const { records, error } = await run(task, items);
	const ms = performance.now() - start;
	const { user, system } = process.cpuUsage(usage);
	const peakMb = process.resourceUsage().maxRSS / 1e3 - before;
	return { ms, cpuMs: (user + system) / 1e3, peakMb, records, ...(error !== undefined && { error }) };
}

function runner(): NonNullable<typeof run> {
	if (subject === 'bare loop') {
		const work = bareLoop();
		return async (task, items) => {
			try {
				return { records: (await work(task, items)).length };
			} catch (error) {
				return { records: 0, error: String(error) };
			}
		};
	}
	const node = engine.load(peers[subject]);
	return async (task, inputItems) => {
		const { items, error } = await node.run(task, inputItems);
		const records =
			subject === 'HTTP Request' && task === 'list' ? recordsInPages(items) : items.length;
		return { records, ...(error && { error: error.message }) };
	};
}

/** HTTP Request returns pages; a user would add Split Out, which is not measured. */
const recordsInPages = (items: Array<{ json: IDataObject }>): number =>
	items.reduce((sum, { json }) => sum + ((json['data'] as unknown[] | undefined)?.length ?? 0), 0);

function itemNumber(number: number, task: PeerTask): IDataObject {
	const { firstName, lastName, email, phone, jobTitle } = contactNumber(number);
	return {
		...(task !== 'create' && { id: idOf(number) }),
		...{ first_name: firstName, last_name: lastName, email, phone, job_title: jobTitle },
	};
}

/** The records of a page, in the subject's service. */
function idOf(number: number): string {
	const prefixes: Partial<Record<Subject, string>> = { Airtable: 'rec', HubSpot: '' };
	return `${prefixes[subject] ?? 'con_'}${number}`;
}
