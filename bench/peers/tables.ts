import { markdownTable, seconds } from './markdown.ts';
import type { Fresh, PeerResults, UsedUp, Work } from './results.ts';
import { type Subject, subjects } from './subjects.ts';

const ours: Subject = 'CRM Platform';
/** The bare loop is not a node. */
const others = subjects.filter((subject) => subject !== ours && subject !== 'bare loop');

/** The figures as Markdown, for people. */
export function figuresPage(results: PeerResults): string {
	const worksOver = (tls: boolean) => results.works.filter(({ network }) => network.tls === tls);
	const versions = subjects.flatMap((subject) => {
		const version = results.versions[subject];
		return version === undefined ? [] : [`${subject} ${version}`];
	});
	return [
		`${results.machine}. n8n ${results.n8n}; nodes: ${versions.join(', ')}.`,
		'',
		'### Over TLS, in seconds',
		'',
		worksTable(worksOver(true), 'ms'),
		'',
		'`~`: one request and a part of the work were measured, and the line through both continued.',
		'',
		'### Without TLS, in seconds',
		'',
		worksTable(worksOver(false), 'ms'),
		'',
		'### Processor time over TLS, in seconds',
		'',
		worksTable(
			worksOver(true).filter(({ network, count }) => network.ms === 0 && count > 1),
			'cpuMs',
		),
		'',
		`### In a new process, over TLS`,
		'',
		freshTable(results.fresh, results.freshCount),
		'',
		`### On a used-up plan of ${results.plan.requests} requests per ${results.plan.windowMs / 1000} s`,
		'',
		usedUpTable(results.usedUp),
		'',
		'### Where others are ahead',
		'',
		ahead(results),
	].join('\n');
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

const named = ({ task, count, network }: Work) =>
	`${task} ${count.toLocaleString('en')}, ${network.ms} ms`;

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

function usedUpTable(usedUp: Record<Subject, UsedUp[]>): string {
	const rows = subjects.flatMap((subject) =>
		usedUp[subject].map(({ task, count, records, requests, refused, ms, leastMs, error }) => [
			`${subject}: ${task} ${count.toLocaleString('en')}`,
			error === undefined ? `${records.toLocaleString('en')}` : `${records.toLocaleString('en')}, then an error`,
			`${requests}`,
			`${refused}`,
			seconds(ms),
			error === undefined ? seconds(leastMs) : '',
		]),
	);
	return markdownTable([
		['', 'records out', 'requests', 'refused', 'seconds', 'least possible'],
		...rows,
	]);
}

/** The rows in which another node needs less than ours. */
function ahead({ works, fresh, freshCount }: PeerResults): string {
	const rows = [
		...works.map((work) => ({
			label: `${named(work)}${work.network.tls ? '' : ', without TLS'}`,
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
