import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { resolve } from 'node:path';
import type { Row } from './measure.ts';
import { markdownTable } from './peers/markdown.ts';

export interface Report {
	/** Also the file's name: bench/results/<name>.md */
	name: string;
	/** The headings of the columns. */
	ours: string;
	bare: string;
	rows: Row[];
}

/** Prints a report, and saves it so that runs can be compared (git diff bench/results), unless its work was made smaller. */
export function publish(report: Report, isWhole: boolean): void {
	const text = `# ${report.name}\n\n${machine()}\n\n${table(report)}\n`;
	console.log(`\n${text}`);
	if (!isWhole) return;
	const folder = resolve('bench', 'results');
	mkdirSync(folder, { recursive: true });
	writeFileSync(resolve(folder, `${report.name}.md`), text);
	const json = JSON.stringify({ machine: machine(), ...report }, null, '\t');
	writeFileSync(resolve(folder, `${report.name}.json`), `${json}\n`);
}

function table({ ours, bare, rows }: Omit<Report, 'name'>): string {
	const lines = rows.map((row) => [row.label, row.unit, rounded(row.ours), rounded(row.bare), (row.ours / row.bare).toFixed(2)]);
	return markdownTable([['', 'unit', ours, bare, 'ratio'], ...lines], 2);
}

/** Three digits are enough: more would be smaller than the machine's noise. */
function rounded(value: number): string {
	if (value >= 100) return Math.round(value).toLocaleString('en');
	return value.toPrecision(3);
}

/** Day, version of Node.js, processors and memory. */
export function machine(): string {
	const processors = cpus();
	const memory = Math.round(totalmem() / 2 ** 30);
	const day = new Date().toISOString().slice(0, 10);
	const parts = `${processors.length} × ${processors[0]?.model}, ${memory} GiB`;
	return `${day}, Node.js ${process.versions.node}, ${parts}`;
}
