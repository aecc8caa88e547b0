import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildPackage } from '../../tools/build.ts';
import { machine } from '../report.ts';
import { measureConnections, measureGains } from './connections.ts';
import { measureFresh, measureUsedUp } from './fresh.ts';
import { pageWith, peersPlot } from './page.ts';
import { type Laboratory, type Network, openLaboratory, type Worker } from './processes.ts';
import type { PeerResults, Work } from './results.ts';
import { peers, type Subject, subjects, type PeerTask } from './subjects.ts';
import { figuresPage } from './tables.ts';
import { measureWork } from './warm.ts';

const distances = [0, 5, 50];
const near: Network = { ms: 0, tls: true };
const far: Network = { ms: 50, tls: true };
const freshCount = 100_000;
const plan = { requests: 20, windowMs: 3_000 };

/** Measures the node beside other nodes of n8n, on one engine and one server; writes bench/results and bench/peers.md. */
export async function benchPeers(): Promise<void> {
	await buildPackage();
	const networks = [true, false].flatMap((tls) => distances.map((ms) => ({ ms, tls })));
	const laboratory = await openLaboratory(networks);
	try {
		const works = await measureWorks(laboratory, networks);
		const usedUp = await measureUsedUp(laboratory, plan, near);
		const fresh = await measureFresh(laboratory, freshCount, near);
		const connections = await measureConnections(laboratory, near, far);
		const gains = await measureGains(laboratory, far);
		const versions = Object.fromEntries(
			Object.entries(peers).flatMap(([subject, { file, typeVersion }]) =>
				file === undefined ? [] : [[subject, `${typeVersion}`]],
			),
		);
		const { n8n } = laboratory;
		const measured = { works, freshCount, fresh, plan, usedUp, connections, gains };
		write({ machine: machine(), n8n, versions, ...measured });
	} finally {
		await laboratory.close();
	}
}

/** All work over all networks, by workers that stay alive. */
async function measureWorks(laboratory: Laboratory, networks: Network[]): Promise<Work[]> {
	const workers = new Map<Subject, Worker>();
	for (const subject of subjects) workers.set(subject, await laboratory.hire(subject));
	const works: Work[] = [];
	for (const network of networks) {
		for (const [task, count] of tasksOver(network)) {
			console.log(`${task} ${count}, ${network.ms} ms${network.tls ? '' : ', without TLS'}`);
			works.push(await measureWork(laboratory, workers, { task, count, network }));
		}
	}
	for (const worker of workers.values()) await worker.stop();
	return works;
}

function tasksOver({ ms, tls }: Network): Array<[PeerTask, number]> {
	const baseTasks: Array<[PeerTask, number]> = [
		['list', 10_000],
		['create', 10_000],
	];
	if (!tls) return baseTasks;
	const extraTasks: Array<[PeerTask, number]> = [
		['update', 10_000],
		['delete', 10_000],
		['create', 1],
	];
	return [...(ms > 0 ? ([['list', 100_000]] as Array<[PeerTask, number]>) : []), ...baseTasks, ...extraTasks];
}

function write(results: PeerResults): void {
	const folder = resolve('bench', 'results');
	mkdirSync(folder, { recursive: true });
	writeFileSync(resolve(folder, 'peers.json'), `${JSON.stringify(results, null, '\t')}\n`);
	console.log(`\n${figuresPage(results)}`);
	const page = resolve('bench', 'peers.md');
	writeFileSync(page, pageWith(results, readFileSync(page, 'utf8')));
	writeFileSync(resolve('bench', 'peers.svg'), peersPlot(results));
}
