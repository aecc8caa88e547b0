import { markdownTable, seconds } from './markdown.ts';
import type { Fresh, Work } from './measure-peers.ts';
import { type Subject, subjects } from './subjects.ts';

/** bench/results/peers.json */
export interface PeerResults {
	/** Day, version of Node.js, processors and memory. */
	machine: string;
	n8n: string;
	/** Versions of the nodes, by the name of their column. */
	versions: Partial<Record<Subject, string>>;
	works: Work[];
	/** Records of the list that fresh processes read. */
	freshCount: number;
	fresh: Record<Subject, Fresh>;
}

const ours: Subject = 'CRM Platform';
/** The bare loop is not a node. */
const others = subjects.filter((subject) => subject !== ours && subject !== 'bare loop');

/** The figures as Markdown, for people. */
export function figuresPage(results: PeerResults): string {
	const versions = subjects.flatMap((subject) => {
		const version = results.versions[subject];
		return version === undefined ? [] : [`${subject} ${version}`];
	});
	return [
		`${results.machine}. n8n ${results.n8n}; nodes: ${versions.join(', ')}.`,
		'### Seconds, over TLS',
		worksTable(results.works, 'ms'),
		'`~`: one request and a part of the work were measured, and the line through both continued.',
		'### Processor time, in seconds',
		worksTable(results.works.filter(({ distance, count }) => distance === 5 && count > 1), 'cpuMs'),
		'### In a new process',
		freshTable(results.fresh, results.freshCount),
		'### Where others are ahead',
		ahead(results),
	].join('\n\n');
}

function worksTable(works: Work[], which: 'ms' | 'cpuMs'): string {
	return markdownTable([
		['', ...subjects],
		...works.map((work) => [
			named(work),
			...subjects.map((subject) => {
				const { [which]: ms, measured } = work.figures[subject];
				return `${seconds(ms)}${measured < work.count ? ' ~' : ''}`;
			}),
		]),
	]);
}

const named = ({ task, count, distance }: Work) => `${task} ${count.toLocaleString('en')}, ${distance} ms`;

function freshTable(fresh: Record<Subject, Fresh>, count: number): string {
	const row = (label: string, value: (of: Fresh) => string) => [
		label,
		...subjects.map((subject) => value(fresh[subject])),
	];
	const list = `list ${count.toLocaleString('en')}`;
	return markdownTable([
		['', ...subjects],
		row('first run, one record: seconds', ({ firstMs }) => seconds(firstMs)),
		row('first run: processor time, seconds', ({ firstCpuMs }) => seconds(firstCpuMs)),
		row(`${list}: seconds`, ({ listMs }) => seconds(listMs)),
		row(`${list}: processor time, seconds`, ({ listCpuMs }) => seconds(listCpuMs)),
		row('peak memory of both, MB', ({ peakMb }) => `${Math.round(peakMb)}`),
	]);
}

/** The rows in which another node needs less than ours. */
function ahead({ works, fresh, freshCount }: PeerResults): string {
	const rows = [
		...works.map((work) => ({
			label: named(work),
			value: (subject: Subject) => work.figures[subject].ms,
			show: seconds,
		})),
		...(['firstMs', 'firstCpuMs', 'listMs', 'peakMb'] as const).map((which) => ({
			label: {
				firstMs: 'first run in a process, time',
				firstCpuMs: 'first run in a process, processor time',
				listMs: `list ${freshCount.toLocaleString('en')} in a new process, time`,
				peakMb: 'peak memory, MB',
			}[which],
			value: (subject: Subject) => fresh[subject][which],
			show: which === 'peakMb' ? (value: number) => `${Math.round(value)}` : seconds,
		})),
	];
	const lines = rows.flatMap(({ label, value, show }) => {
		const faster = others
			.filter((subject) => value(subject) < value(ours))
			.map((subject) => `${subject} ${show(value(subject))}`);
		return faster.length === 0 ? [] : [`- ${label} (CRM Platform ${show(value(ours))}): ${faster.join(', ')}`];
	});
	return lines.length === 0 ? 'In no row.' : lines.join('\n');
}
