import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fillSection } from '../../tools/marked-section.ts';
import { buildConnector } from '../connector.ts';
import { machine } from '../report.ts';
import { plot } from './bar-plot.ts';
import { measureFresh, measureWork, type Work } from './measure-peers.ts';
import { openLaboratory, type Worker } from './processes.ts';
import { peers, type PeerTask, type Subject, subjects } from './subjects.ts';
import { figuresPage, type PeerResults } from './tables.ts';

const markers = ['<!-- figures, written by npm run bench peers -->', '<!-- end of figures -->'] as const;

/**
 * Measures the node beside other nodes of n8n, on one engine and one server; writes bench/results and bench/peers.md.
 *
 * @param size records of each piece of work; the long list has ten times as many. With a size, one distance and one round
 */
export async function benchPeers(size?: number): Promise<void> {
	await buildConnector();
	const many = size ?? 10_000;
	const rounds = size === undefined ? 3 : 1;
	// Round-trip milliseconds: a service in the same region, and one far away.
	const distances = size === undefined ? [5, 50] : [5];
	const laboratory = await openLaboratory(distances);
	try {
		const workers = new Map<Subject, Worker>();
		for (const subject of subjects) workers.set(subject, await laboratory.hire(subject));
		const works: Work[] = [];
		for (const distance of distances) {
			const tasks: Array<[PeerTask, number]> = [['list', 10 * many], ['create', many], ['update', many], ['delete', many], ['create', 1]];
			for (const [task, count] of tasks) {
				console.log(`${task} ${count}, ${distance} ms`);
				works.push(await measureWork(laboratory, workers, { task, count, distance }, rounds));
			}
		}
		for (const worker of workers.values()) await worker.stop();
		const fresh = await measureFresh(laboratory, 10 * many, rounds);
		const versions = Object.fromEntries(
			Object.entries(peers).flatMap(([subject, { file, typeVersion }]) => (file === undefined ? [] : [[subject, `${typeVersion}`]])),
		);
		const results = { machine: machine(), n8n: laboratory.n8n, versions, works, freshCount: 10 * many, fresh };
		console.log(`\n${figuresPage(results)}`);
		if (size === undefined) write(results);
	} finally {
		await laboratory.close();
	}
}

function write(results: PeerResults): void {
	const folder = resolve('bench', 'results');
	mkdirSync(folder, { recursive: true });
	writeFileSync(resolve(folder, 'peers.json'), `${JSON.stringify(results, null, '\t')}\n`);
	const figures = figuresPage(results);
	const page = resolve('bench', 'peers.md');
	writeFileSync(page, fillSection(readFileSync(page, 'utf8'), markers, figures));
	const charted = results.works.filter(({ distance, count }) => distance === 5 && count > 1);
	const groups = charted.map((work) => ({ name: `${work.task} ${work.count.toLocaleString('en')}`, work }));
	writeFileSync(resolve('bench', 'peers.svg'), plot('Seconds, at 5 ms over TLS (logarithmic)', groups));
}
